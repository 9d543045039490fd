//! Who may enter next: the thread that runs, for a bounded time, and then the one whose turn it is.
//!
//! **Idea.** A queue lock that hands itself from thread to thread pays two cache-line transfers an
//! acquisition when its waiters run, and a switch between threads when they do not, which with more threads
//! than cores is the rule. So only as many threads circulate as keep the lock busy (here: whoever runs), and
//! the others wait apart, in order, and are let in by turns of time. **Sources:** D. Dice: *Malthusian
//! locks*, EuroSys 2017, doi:10.1145/3064176.3064203; D. Dice, A. Kogan: *Avoiding scalability collapse by
//! restricting concurrency*, Euro-Par 2019, doi:10.1007/978-3-030-29400-7_26; and, for the way in which the
//! two sets meet at one word, *Fissile locks*, NETYS 2020, doi:10.1007/978-3-030-67087-0_13. We depart in
//! that turns are of time and not of acquisitions; that the one who *leaves* the lock measures them, since
//! the one who waits may not be running; and that a turn given to a thread that does not come is taken back.
//!
//! The queue itself is not here: it is that of the lock around ([`Fissile`](crate::Fissile)), whose holder is
//! the *head*. Only the head waits for this word; how it does, and how long a turn is, stands in
//! [`head`](crate::locks::head).
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | anybody may take it | compare-and-swap to `HELD` |
//! | `HELD` | somebody is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | the head may take it, others only if it does not | compare-and-swap to `HELD` |
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. *No lost wake-up*: a releaser stores `state`, passes `light`, and looks after the head; see there.
//! 3. `RESERVED` locks nobody out: the head takes it; without one (it gave up) an arrival does, at once by
//!    way of the queue or after standing back.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire). All else is
//! hints.

use crate::locks::head::{Contest, Head};
use crate::waiting::wait::WaitPolicy;
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;

/// Anybody may take it.
const FREE: u32 = 0;
/// Somebody is inside.
const HELD: u32 = 1;
/// The head may take it.
const RESERVED: u32 = 2;

/// The word; see the [module](self).
#[derive(Debug)]
pub(crate) struct Admission<P: Platform> {
    state: P::AtomicU32,
    head: Head<P>,
    pub(crate) policy: WaitPolicy,
}

/// The head before this word, and its queue.
struct Before<'a, P: Platform, F> {
    admission: &'a Admission<P>,
    company: F,
}

impl<P: Platform, F: Fn() -> bool> Contest for Before<'_, P, F> {
    fn take(&self) -> bool {
        self.admission.take_as_head()
    }

    fn company(&self) -> bool {
        (self.company)()
    }
}

impl<P: Platform> Admission<P> {
    pub(crate) fn new(policy: WaitPolicy) -> Self {
        Self { state: AtomicInteger::new(FREE), head: Head::new(), policy }
    }

    /// Whether nobody may come again before those who wait: then the word is not used at all.
    #[inline(always)]
    pub(crate) fn is_strict(&self) -> bool {
        self.policy.forced_yield_ns == 0
    }

    /// Takes the word if anybody may.
    #[inline(always)]
    pub(crate) fn take(&self) -> bool {
        self.take_from(FREE)
    }

    #[inline(always)]
    fn take_from(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether a try may succeed for anybody, and if not, for who holds the queue.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE
    }

    #[inline(always)]
    pub(crate) fn is_reserved(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RESERVED
    }

    /// Takes the word for the holder of the queue.
    pub(crate) fn take_as_head(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            HELD => false,
            free_or_reserved => self.take_from(free_or_reserved),
        }
    }

    /// As long as the word is reserved, waits for the head to take it. True if the caller has taken the word.
    #[cold]
    pub(crate) fn stand_back(&self, deadline_ns: Option<u64>) -> bool {
        if self.head.stand_back(&self.state, RESERVED, &self.policy, deadline_ns) {
            self.take_from(RESERVED)
        } else {
            self.is_free() && self.take()
        }
    }

    /// Waits for the word as the holder of the queue; false if the deadline came first. `company` says
    /// whether there are others in the queue.
    pub(crate) fn compete(&self, deadline_ns: Option<u64>, company: impl Fn() -> bool) -> bool {
        self.head.compete(&self.policy, deadline_ns, &Before { admission: self, company })
    }

    /// The caller is inside as the head and will now give the queue away; `company` says whether to somebody.
    pub(crate) fn hand_on(&self, company: bool) {
        self.head.hand_on(company);
    }

    /// Sets the word free, for the head alone if its turn has come.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        let somebody = !self.head.is_nobody();
        let left = if somebody && self.head.turn_is_over(&self.policy) { RESERVED } else { FREE };
        // Release: pairs with the Acquire in take_from().
        self.state.store(left, Ordering::Release);
        P::light();
        self.head.rouse();
    }

    /// As [`RawLock::has_waiters`](crate::RawLock::has_waiters).
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        self.head.has_waiters()
    }
}
