//! Two locks and a filter: threads with work to do go before threads that only look whether something has come.
//!
//! **What it gives.** Each of two classes of threads queues at a lock of its own kind, and the two heads meet at a
//! *filter*. The first high-priority thread shuts the filter behind itself, the following ones find it shut for them
//! and go straight on, and the last one opens it; so low-priority threads pass only when no high-priority thread waits.
//! A thread that issues an operation takes the high class (the main path), a thread that waits for one takes the low
//! class (the progress path): an acquisition by the latter is mostly unproductive.
//!
//! **Source.** Abdelhalim Amer, Huiwei Lu, Pavan Balaji, Milind Chabbi, Yanjie Wei, Jeff Hammond, Satoshi Matsuoka:
//! *Lock Contention Management in Multithreaded MPI*, ACM TOPC 5(3), 2019, doi:10.1145/3275443, section 4.1, Fig. 5 (there
//! TLP; `P-X-Y` with X for the high and Y for the low class). We depart in three points:
//!
//! - *Starvation is bounded.* While a low-priority thread waits at the filter, at most `low_bound` high-priority
//!   sections run; then the filter is granted to it. [`TwoLevel::bound_reached`] counts how often that was needed.
//!   The other way round the paper's ticket order is kept: a low-priority holder hands the filter to a high-priority
//!   thread that waits.
//! - *Waiters may give up.* A holder keeps the filter shut because somebody of its class waits (a [`TimedLock`]'s
//!   [`has_waiters`](RawLock::has_waiters) is right about that moment only); if that thread gives up, nobody is left to open it.
//!   Therefore who gives up leaves a mark, and a low-priority thread that sees it *rescues* the class: it tries the
//!   high lock, and if that is free, takes the filter from the class that nobody is in. The holders pay nothing for it.
//! - The filter is not a ticket lock; see `two_level/filter.rs`.
//!
//! ```text
//!   high:  High --+-- straight? ------> inside --+-- somebody waits for High: straight = true
//!                 |                              |
//!                 +-- else: the filter           +-- else: straight = false; open the filter
//!   low:   Low  ----- the filter -----> inside ----- open the filter
//! ```
//!
//! **Invariants.**
//!
//! 1. *Exclusion.* Inside is only who holds the filter. A low-priority thread that has it holds Low, a high-priority
//!    one High. Between two high-priority threads the filter belongs to nobody while `straight` says so, and then
//!    to whoever holds High next. `straight` changes only under High, by who has the filter, so that it is set exactly
//!    from a hand-over within the class until the class opens the filter.
//! 2. *The filter does not stay shut.* If nobody holds High and `straight` is set, then somebody waits for High and
//!    will get it, or somebody gave up and `stranded` is set. By the contract of `has_waiters`, and because
//!    who gives up marks before it leaves. While the mark is set, a low-priority thread that waits tries High time and
//!    again, asleep too; getting it, it either finds `straight` unset, or takes over the filter.
//! 3. `passes` (how many high-priority sections a low-priority waiter has seen pass) is touched by the holder of the
//!    filter only.
//!
//! **Orderings.** From holder to holder: through High, or through the filter, by Release and Acquire; in a rescue
//! through High, then the filter. The look at `low_waits` is a hint; that it may be late can only delay the bound by
//! the sections that run until the waiter's store is seen.
//!
//! **Cost.** Alone: High or Low, plus one compare-and-swap, a store and some loads of one cache line. With
//! others of the high class behind: High, plus loads of a line that nobody writes.
//!
//! Measured over two [`Mutex`](crate::Mutex)es (2 cores, x86-64, Zen 5): 4.33 ns alone in either class, where one of them takes
//! 2.15 and `std`'s mutex 4.39; 5.0 ns over two [`Mcs`](crate::Mcs). Over those, with ten cache lines in the section (as there): two
//! threads 79 million a second, 16 threads 87, 64 threads 67, shares 0.88 and 0.69; over two strict ones 16 threads do not
//! reach 0.2.
//!
//! **Fairness.** Within a class that of its lock; between them as above. Each low-priority thread has the bound anew, so
//! the n-th in Low's order waits for at most n times `low_bound` high-priority sections. A low-priority
//! holder hands the filter to a high-priority thread that waits there, so that one waits for one section.
//!
//! **More threads than cores.** Each class's lock lets its running thread come again for a while, and keeps the others of
//! its class apart, so no high-priority thread waits behind low-priority ones. Waiting at the filter is by the [`WaitPolicy`]: spin, yield, sleep. A grant may go to a
//! thread that is not running; the others' waits then yield to it. It happens once in `low_bound` sections, and when a
//! low-priority holder leaves while a high-priority thread waits.
//!
//! **Liveness when a thread does not run for 50 ms.** The holder: everybody waits, as for every lock. A waiter in one
//! of the two locks: as that lock's page says. The head of the low class at the filter: nobody, except when
//! the bound is reached and it is granted the filter; the head of the high class at the filter: everybody, if a
//! low-priority holder has granted it the filter, which is what priority means. Who has a deadline gets past all of it,
//! where the class's lock is a [`TimedLock`].
//!
//! **When to choose it.** When many threads poll and few of these polls find something. The paper finds `P-HMCS-MCS`
//! best: throughput where operations are issued, fairness where they are awaited.

mod filter;

use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::raw_lock::{Guard, Lock, RawLock, TimedLock};
use crate::wait::WaitPolicy;
use filter::{Filter, Patience};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use std::fmt;

/// A lock with a second class of acquisitions that stand back for the first, which are those of [`RawLock`].
///
/// # Safety
///
/// As [`RawLock`], for acquisitions of both classes together.
pub unsafe trait PriorityLock: RawLock {
    /// Waits until the lock is the caller's, behind those that acquire it otherwise.
    fn acquire_low(&self) -> Self::Token;

    /// As [`try_acquire`](RawLock::try_acquire), for the low class.
    #[must_use]
    fn try_acquire_low(&self) -> Option<Self::Token>;
}

impl<L: PriorityLock, T> Lock<L, T> {
    /// Waits for the lock in the low class; see [`PriorityLock`].
    #[inline]
    pub fn acquire_low(&self) -> Guard<'_, L, T> {
        self.guard(self.raw().acquire_low())
    }

    /// The guard if that needs no waiting.
    #[inline]
    pub fn try_acquire_low(&self) -> Option<Guard<'_, L, T>> {
        self.raw().try_acquire_low().map(|token| self.guard(token))
    }
}

/// What an acquisition of a [`TwoLevel`] hands to its release: the token of its class's lock.
#[derive(Debug)]
pub enum Class<H, L> {
    /// Acquired in the high class.
    High(H),
    /// Acquired in the low class.
    Low(L),
}

type PlatformOf<L> = <L as RawLock>::Platform;
type TokenOf<H, L> = Class<<H as RawLock>::Token, <L as RawLock>::Token>;

/// The lock; see the [module](self). Its [`RawLock`] side is the high class.
pub struct TwoLevel<High: RawLock, Low: RawLock<Platform = PlatformOf<High>>> {
    high: CachePadded<High>,
    shared: CachePadded<Shared<High::Platform>>,
    low: CachePadded<Low>,
    policy: WaitPolicy,
    low_bound: u32,
}

/// What both classes touch.
struct Shared<P: Platform> {
    filter: Filter<P>,
    /// Whether the filter was kept for the next holder of High. Guarded by High.
    straight: P::Cell<bool>,
    /// Guarded by the filter.
    passes: P::Cell<u32>,
    /// Written under High, read by anybody.
    bound_reached: P::AtomicU64,
    rescues: P::AtomicU64,
}

// SAFETY: the cells are touched only under the locks named at them, which order the accesses; the rest is Sync.
unsafe impl<P: Platform> Sync for Shared<P> {}
// SAFETY: flags and numbers.
unsafe impl<P: Platform> Send for Shared<P> {}

/// How many high-priority sections may pass a waiting low-priority thread, unless told otherwise.
pub const LOW_BOUND: u32 = 256;

impl<H, L> fmt::Debug for TwoLevel<H, L>
where
    H: RawLock + fmt::Debug,
    L: RawLock<Platform = H::Platform> + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { high, low, low_bound, .. } = self;
        f.debug_struct("TwoLevel")
            .field("high", high)
            .field("low", low)
            .field("low_bound", low_bound)
            .finish_non_exhaustive()
    }
}

impl<H: RawLock + Default, L: RawLock<Platform = H::Platform> + Default> Default for TwoLevel<H, L> {
    fn default() -> Self {
        Self::new(H::default(), L::default(), WaitPolicy::DEFAULT)
    }
}

impl<H: RawLock, L: RawLock<Platform = H::Platform>> TwoLevel<H, L> {
    /// A free lock of these two, which nobody holds or waits for otherwise. Waits at the filter are by `policy`.
    #[must_use]
    pub fn new(high: H, low: L, policy: WaitPolicy) -> Self {
        Self::with_low_bound(high, low, policy, LOW_BOUND)
    }

    /// As [`new`](Self::new), with the number of high-priority sections (at least 1) after which a low-priority thread
    /// that waits at the filter gets it; [`u32::MAX`] for strict priority, in which the low class may starve.
    #[must_use]
    pub fn with_low_bound(high: H, low: L, policy: WaitPolicy, low_bound: u32) -> Self {
        Self {
            high: CachePadded::new(high),
            shared: CachePadded::new(Shared {
                filter: Filter::new(),
                straight: MemoryCell::new(false),
                passes: MemoryCell::new(0),
                bound_reached: AtomicInteger::new(0),
                rescues: AtomicInteger::new(0),
            }),
            low: CachePadded::new(low),
            policy,
            low_bound: low_bound.max(1),
        }
    }

    /// The high class's lock, for what its kind offers besides.
    pub fn high(&self) -> &H {
        &self.high
    }

    /// The low class's lock, for what its kind offers besides.
    pub fn low(&self) -> &L {
        &self.low
    }

    /// How many times a low-priority thread got in only because `low_bound` sections had passed it.
    pub fn bound_reached(&self) -> u64 {
        self.shared.bound_reached.load(Ordering::Relaxed)
    }

    /// How many times the filter had been kept shut for a thread that gave up.
    pub fn rescues(&self) -> u64 {
        self.shared.rescues.load(Ordering::Relaxed)
    }

    /// Waits until the lock is the caller's, in the high class.
    #[inline]
    pub fn acquire_high(&self) -> TokenOf<H, L> {
        let token = self.high.acquire();
        if !self.goes_straight() && !self.shared.filter.take() {
            self.shared.filter.wait_as_high(self.patience(self.high.has_waiters(), None));
        }
        Class::High(token)
    }

    /// As [`RawLock::try_acquire`], in the high class.
    #[inline]
    pub fn try_acquire_high(&self) -> Option<TokenOf<H, L>> {
        let token = self.high.try_acquire()?;
        if self.goes_straight() || self.shared.filter.take() {
            return Some(Class::High(token));
        }
        // SAFETY: acquired above; the filter is not the class's.
        unsafe { self.high.release(token) };
        None
    }

    /// Waits until the lock is the caller's, in the low class.
    #[inline]
    pub fn acquire_low(&self) -> TokenOf<H, L> {
        let token = self.low.acquire();
        if !self.shared.filter.take() {
            let patience = self.patience(self.low.has_waiters(), None);
            self.shared.filter.wait_as_low(patience, || self.rescue());
        }
        self.enter_low(token)
    }

    /// As [`RawLock::try_acquire`], in the low class.
    #[inline]
    pub fn try_acquire_low(&self) -> Option<TokenOf<H, L>> {
        let token = self.low.try_acquire()?;
        if self.shared.filter.take() || self.shared.filter.may_be_stranded() && self.rescue() {
            return Some(self.enter_low(token));
        }
        // SAFETY: acquired above; the filter is not the caller's.
        unsafe { self.low.release(token) };
        None
    }

    /// As [`TimedLock::acquire_until`], in the high class.
    #[must_use]
    pub fn acquire_high_until(&self, deadline_ns: u64) -> Option<TokenOf<H, L>>
    where
        H: TimedLock,
    {
        let Some(token) = self.high.acquire_until(deadline_ns) else {
            // Invariant 2.
            self.shared.filter.strand();
            return None;
        };
        let patience = self.patience(self.high.has_waiters(), Some(deadline_ns));
        if self.goes_straight() || self.shared.filter.take() || self.shared.filter.wait_as_high(patience) {
            return Some(Class::High(token));
        }
        // SAFETY: acquired above; the filter is not the class's.
        unsafe { self.high.release(token) };
        None
    }

    /// As [`TimedLock::acquire_until`], in the low class.
    #[must_use]
    pub fn acquire_low_until(&self, deadline_ns: u64) -> Option<TokenOf<H, L>>
    where
        L: TimedLock,
    {
        let token = self.low.acquire_until(deadline_ns)?;
        let patience = self.patience(self.low.has_waiters(), Some(deadline_ns));
        if self.shared.filter.take() || self.shared.filter.wait_as_low(patience, || self.rescue()) {
            return Some(self.enter_low(token));
        }
        // SAFETY: acquired above; the filter is not the caller's.
        unsafe { self.low.release(token) };
        None
    }

    fn patience(&self, company: bool, deadline_ns: Option<u64>) -> Patience<'_> {
        Patience { policy: &self.policy, crowd: 1 + usize::from(company), deadline_ns }
    }

    /// Whether the filter was kept for the caller, who holds High.
    #[inline(always)]
    fn goes_straight(&self) -> bool {
        // SAFETY: the caller holds High, which guards it.
        self.shared.straight.with(|straight| unsafe { *straight })
    }

    /// The caller holds High and the filter.
    #[inline(always)]
    fn set_straight(&self, value: bool) {
        // Most often it is so already, and then the line stays shared.
        if self.goes_straight() != value {
            // SAFETY: the caller holds High, which guards it.
            self.shared.straight.with_mut(|straight| unsafe { *straight = value });
        }
    }

    /// Gives another value to `passes`; returns the new one. The caller holds the filter.
    #[inline(always)]
    fn change_passes(&self, change: impl FnOnce(u32) -> u32) -> u32 {
        self.shared.passes.with_mut(|passes| {
            // SAFETY: the caller holds the filter, which guards it.
            let passes = unsafe { &mut *passes };
            *passes = change(*passes);
            *passes
        })
    }

    /// The caller holds Low and the filter.
    #[inline(always)]
    fn enter_low(&self, token: L::Token) -> TokenOf<H, L> {
        self.change_passes(|_| 0);
        Class::Low(token)
    }

    /// Decides what becomes of the filter when a high-priority section ends. The caller holds High and the filter.
    #[inline(always)]
    fn pass_filter_on(&self) {
        let filter = &self.shared.filter;
        if filter.low_waits() && self.bound_is_reached() {
            self.set_straight(false);
            if filter.open_for_low() {
                increment::<H::Platform>(&self.shared.bound_reached);
            }
        } else if self.high.has_waiters() || injected(Fault::TwoLevelKeptShut) {
            self.set_straight(true);
        } else {
            if !injected(Fault::TwoLevelFlagLeft) {
                self.set_straight(false);
            }
            filter.open_by_high();
        }
    }

    #[cold]
    fn bound_is_reached(&self) -> bool {
        self.change_passes(|passes| passes.saturating_add(1)) >= self.low_bound && self.low_bound != u32::MAX
    }

    /// Takes the filter from the high class if nobody is left in it. The caller is the head of the low class.
    #[cold]
    fn rescue(&self) -> bool {
        let Some(token) = self.high.try_acquire() else { return false };
        self.shared.filter.clear_stranded();
        let has_filter = self.goes_straight();
        if has_filter {
            self.set_straight(false);
            increment::<H::Platform>(&self.shared.rescues);
        }
        // SAFETY: acquired above; the filter is not the class's any more.
        unsafe { self.high.release(token) };
        has_filter
    }
}

/// By the one thread that writes it now.
fn increment<P: Platform>(counter: &P::AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

// SAFETY: exclusion by invariant 1, order by the two locks and the filter, liveness by invariant 2 and theirs.
unsafe impl<H: RawLock, L: RawLock<Platform = H::Platform>> RawLock for TwoLevel<H, L> {
    type Platform = H::Platform;
    type Token = TokenOf<H, L>;

    #[inline]
    fn acquire(&self) -> Self::Token {
        self.acquire_high()
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        self.try_acquire_high()
    }

    #[inline]
    unsafe fn release(&self, token: Self::Token) {
        match token {
            Class::High(token) => {
                self.pass_filter_on();
                // SAFETY: the caller's promise: it acquired High with this token.
                unsafe { self.high.release(token) };
            }
            Class::Low(token) => {
                self.shared.filter.open_by_low();
                // SAFETY: the caller's promise: it acquired Low with this token.
                unsafe { self.low.release(token) };
            }
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        let filter = &self.shared.filter;
        self.high.has_waiters() || self.low.has_waiters() || filter.low_waits() || filter.high_waits()
    }
}

// SAFETY: a thread that gives up releases the lock of its class or was never given it; invariant 2 says why others
// still enter.
unsafe impl<H: TimedLock, L: RawLock<Platform = H::Platform>> TimedLock for TwoLevel<H, L> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Self::Token> {
        self.acquire_high_until(deadline_ns)
    }
}

// SAFETY: as RawLock.
unsafe impl<H: RawLock, L: RawLock<Platform = H::Platform>> PriorityLock for TwoLevel<H, L> {
    #[inline]
    fn acquire_low(&self) -> Self::Token {
        self.acquire_low()
    }

    #[inline]
    fn try_acquire_low(&self) -> Option<Self::Token> {
        self.try_acquire_low()
    }
}
