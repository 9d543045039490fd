//! Decides which thread enters next: the running thread, for a bounded time, and then the
//! thread whose turn it is.
//!
//! **Idea.** A queue lock that hands itself from thread to thread pays two cache-line transfers an
//! acquisition when its waiters run, and a switch between threads when they do not, which is the rule with
//! more threads than cores. So only enough threads circulate to keep the lock busy (here: the running ones).
//! The others wait apart, in order, and are let in after turns of fixed time. **Sources:** D. Dice:
//! *Malthusian locks*, EuroSys 2017, doi:10.1145/3064176.3064203; D. Dice, A. Kogan: *Avoiding scalability
//! collapse by restricting concurrency*, Euro-Par 2019, doi:10.1007/978-3-030-29400-7_26; and, for the way in
//! which the two sets meet at one word, *Fissile locks*, NETYS 2020, doi:10.1007/978-3-030-67087-0_13. We
//! depart in three points: turns are of time and not of acquisitions; the thread that *leaves* the lock
//! measures them, since the one that waits may not be running; and a turn given to a thread that does not
//! come is taken back. The queue itself is not here: it is that of the lock around
//! ([`Fissile`](crate::Fissile)), whose holder is the *head*. Only the head waits for this word;
//! [`head`](crate::head) says how, and how long a turn is.
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | any thread may take it | compare-and-swap to `HELD` |
//! | `HELD` | a thread is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | the head may take it, others only if it does not | compare-and-swap to `HELD` |
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. *No lost wake-up*: a releaser stores `state`, passes `light`, and checks for the head; see there.
//! 3. `RESERVED` locks no thread out: the head takes it; if there is none (it gave up), an arrival does, at
//!    once through the queue or after standing back.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire).
//! All other words are hints.

use crate::head::{Contest, Head};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_sync::WaitPolicy;

/// Any thread may take it.
const FREE: u32 = 0;
/// A thread is inside.
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

    /// Returns true if no thread may come again before the waiters: then the word is not used at all.
    #[inline(always)]
    pub(crate) fn is_strict(&self) -> bool {
        self.policy.forced_yield_ns == 0
    }

    /// Takes the word if any thread may.
    #[inline(always)]
    pub(crate) fn take(&self) -> bool {
        self.take_from(FREE)
    }

    #[inline(always)]
    fn take_from(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Returns true if any thread may take the word. If it is reserved, only the holder of the queue may.
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

    /// Waits for the head to take the word while it is reserved. Returns true if the
    /// caller has taken the word.
    #[cold]
    pub(crate) fn stand_back(&self, deadline_ns: Option<u64>) -> bool {
        if self.head.stand_back(&self.state, RESERVED, &self.policy, deadline_ns) {
            self.take_from(RESERVED)
        } else {
            self.is_free() && self.take()
        }
    }

    /// Waits for the word as the holder of the queue; returns false if the deadline came first. `company`
    /// says whether there are others in the queue.
    pub(crate) fn compete(&self, deadline_ns: Option<u64>, company: impl Fn() -> bool) -> bool {
        self.head.compete(&self.policy, deadline_ns, &Before { admission: self, company })
    }

    /// The caller is inside as the head and will now give the queue away; `company` says
    /// whether a thread waits there.
    pub(crate) fn hand_on(&self, company: bool) {
        self.head.hand_on(company);
    }

    /// Sets the word free, or reserves it for the head if its turn has come.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        let somebody = !self.head.is_nobody();
        let left = if somebody && self.head.turn_is_over(&self.policy) { RESERVED } else { FREE };
        // Release: pairs with the Acquire in take_from().
        self.state.store(left, Ordering::Release);
        P::light();
        self.head.rouse();
    }

    /// See [`RawLock::has_waiters`](heddle_sync::RawLock::has_waiters).
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        self.head.has_waiters()
    }
}
