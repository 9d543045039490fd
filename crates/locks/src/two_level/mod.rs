//! Two locks and a filter: threads with work to do go before threads that only poll for
//! something that may have come.
//!
//! **What it gives.** One word, the *filter*, decides which thread is inside. A thread that finds it free
//! takes it; a thread that does not queues at the lock of its class, and the two heads wait for the filter. A
//! thread of the low class passes only when no thread of the high class waits. An issuing thread takes the
//! high class (the main path), a waiting thread takes the low class (the progress path), because an
//! acquisition by a waiting thread is mostly unproductive.
//!
//! **Source.** Abdelhalim Amer, Huiwei Lu, Pavan Balaji, Milind Chabbi, Yanjie Wei, Jeff Hammond, Satoshi
//! Matsuoka: *Lock Contention Management in Multithreaded MPI*, ACM TOPC 5(3), 2019, doi:10.1145/3275443,
//! section 4.1, Fig. 5 (there TLP; `P-X-Y` with X for the high and Y for the low class). We depart in four
//! points:
//!
//! - *The filter comes first.* There each thread goes through its class's lock and then, unless the class
//!   has kept it, through the filter, a ticket lock. Here the filter is the word of a
//!   [`Fissile`](crate::Fissile) lock, with a head for each class: alone it is the only word touched, and a
//!   running thread may come again for a while.
//! - *The class does not keep the filter.* There a flag tells the next high-priority thread that the filter
//!   was left shut for it. Here the filter is set free, and the next head is said to be *coming*, which keeps
//!   the low class out.
//! - *Starvation is bounded.* While a low-priority thread waits at the filter, at most `low_bound`
//!   high-priority critical sections run; then it is that thread's turn. [`TwoLevel::bound_reached`] counts
//!   how often that was needed.
//! - *Waiters may give up.* A head is said to be coming because a thread of its class waits (a
//!   [`TimedLock`]'s [`has_waiters`](RawLock::has_waiters) is right about that moment only); if that thread
//!   gives up, no head comes. Therefore a thread that gives up leaves a mark, and a low-priority thread that
//!   sees it *rescues* its class: it tries the high lock, and if that is free, no head is coming. The
//!   holders pay nothing for it.
//!
//! ```text
//!   high:  the filter free? -----------------------------------------> inside
//!            no: High, then as its head wait for the filter ------------^
//!   low:   the filter free, no high-priority thread waits or comes? --> inside
//!            no: Low, then as its head wait for that -------------------^
//! ```
//!
//! **Invariants.**
//!
//! 1. *Exclusion and wake-ups* are the filter's: see `two_level/filter.rs`. Only a class's head waits there,
//!    and it holds the class's lock from before its wait until it has left the filter.
//! 2. *No thread is shut out.* The low class waits while the high class's head waits or is said to come. By
//!    the contract of `has_waiters`, a thread that is said to come will come, or it gave up and `stranded` is
//!    set: a thread that gives up sets the mark before it returns. While the mark is set, a low-priority head
//!    tries High time and again, also in between its sleeps; when it gets High, it knows that no thread is in
//!    High, and takes the word back.
//!
//! **Cost.** Alone, in either class: one compare-and-swap to enter, a plain store and some loads of the same
//! cache line to leave. Contended, as [`Fissile`](crate::Fissile): during a turn the same as alone, with the
//! head polling, and one acquisition and release of High or Low a turn. Space: a line and the two locks.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, x86-64, Zen 5; `std`'s mutex 5.0 and our
//! [`Mutex`](heddle_sync::Mutex) 2.9 ns alone): `P-Mutex-Mutex` 4.0 ns, `P-MCS-MCS` 4.9, `P-HMCS-MCS` 3.9.
//! `P-MCS-MCS` with ten cache lines in the critical section: two threads 99 million a second, 16 threads 70,
//! 64 threads 71 (`parking_lot` 93 with two); empty section: 194, 157, 155.
//!
//! **Fairness.** The heads' order is that of the class's lock. Within a class a running thread may pass the
//! class's head for `forced_yield_ns`, as with `Fissile`; with 0 it may not. The bound starts anew for each
//! low-priority head, so the n-th in Low's order waits for at most n times `low_bound` high-priority critical
//! sections, and n turns. A high-priority head waits for the critical section that runs, and its turn; no
//! low-priority thread passes it, except one that has waited for its bound.
//!
//! **More threads than cores.** As with `Fissile`, the waiters in High and Low yield a little and sleep,
//! and the running threads go on using the lock. Therefore give it queue locks in their strict form
//! (`P-MCS-MCS` is `TwoLevel<StrictMcs, StrictMcs>`), with the policy's [`apart`](WaitPolicy::apart) for
//! their waiters; other locks work too, but bring a second word that is not needed. The filter is kept
//! for a low-priority thread that is not running at most once in `low_bound` critical sections; the
//! others' waits then yield to it.
//!
//! **Liveness when a thread does not run for 50 ms.** The holder: all threads wait, as for every lock. The
//! head of the high class: the low class waits, which is what priority means; high-priority arrivals go
//! past it, as with `Fissile`. The head of the low class: only those behind it in Low wait, and when the
//! bound is reached, all threads. A waiter in one of the two locks: what that lock's page says, once it is
//! to become the head; arrivals go past. A waiter with a deadline can give up in all these cases, if the
//! class's lock is a [`TimedLock`].
//!
//! **When to choose it.** When many threads poll and few of these polls find something. The paper finds
//! `P-HMCS-MCS` best: throughput where operations are issued, fairness where they are awaited.

mod filter;

use crate::head::Contest;
use filter::{Filter, Side};
use heddle_sync::{CachePadded, PriorityLock, RawLock, TimedLock, WaitPolicy};
use std::fmt;
use std::time::Duration;

/// What an acquisition of a [`TwoLevel`] hands to its release: its class, and the token of that class's lock
/// if the thread was its head.
#[derive(Debug)]
pub enum Class<H, L> {
    /// Acquired in the high class.
    High(Option<H>),
    /// Acquired in the low class.
    Low(Option<L>),
}

/// The token of a class's lock, if the thread that acquired the word was the head of its class.
type HeadToken<Q> = Option<<Q as RawLock>::Token>;
type PlatformOf<L> = <L as RawLock>::Platform;
type TokenOf<H, L> = Class<<H as RawLock>::Token, <L as RawLock>::Token>;

/// The lock; see the [module](self). Its [`RawLock`] side is the high class.
///
/// Threads with work go first; one that only polls stands back:
///
/// ```
/// use heddle_locks::{Mcs, TwoLevel};
/// use heddle_sync::Lock;
///
/// let queue: Lock<TwoLevel<Mcs, Mcs>, Vec<u32>> = Lock::default();
/// std::thread::scope(|scope| {
///     scope.spawn(|| queue.acquire().push(7));
///     scope.spawn(|| while queue.acquire_low().pop().is_none() {});
/// });
/// assert!(queue.into_inner().is_empty());
/// ```
pub struct TwoLevel<High: RawLock, Low: RawLock<Platform = PlatformOf<High>>> {
    filter: CachePadded<Filter<High::Platform>>,
    high: CachePadded<High>,
    low: CachePadded<Low>,
}

/// The number of high-priority critical sections that may pass a waiting low-priority
/// thread, unless told otherwise.
pub const LOW_BOUND: u32 = 256;

impl<H, L> fmt::Debug for TwoLevel<H, L>
where
    H: RawLock + fmt::Debug,
    L: RawLock<Platform = H::Platform> + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { high, low, .. } = self;
        f.debug_struct("TwoLevel").field("high", high).field("low", low).finish_non_exhaustive()
    }
}

impl<H: RawLock + Default, L: RawLock<Platform = H::Platform> + Default> Default for TwoLevel<H, L> {
    fn default() -> Self {
        Self::new(H::default(), L::default(), WaitPolicy::DEFAULT)
    }
}

impl<H: RawLock, L: RawLock<Platform = H::Platform>> TwoLevel<H, L> {
    /// A free lock of these two, which no thread holds or waits for otherwise. Waits at the filter, and
    /// turns, follow `policy`; the waiters in the two locks should [keep apart](WaitPolicy::apart).
    #[must_use]
    pub fn new(high: H, low: L, policy: WaitPolicy) -> Self {
        Self::with_low_bound(high, low, policy, LOW_BOUND)
    }

    /// A free lock with the number of high-priority critical sections (at least 1) after which a
    /// low-priority thread that waits at the filter gets it; [`u32::MAX`] for strict priority, in which
    /// the low class may starve.
    #[must_use]
    pub fn with_low_bound(high: H, low: L, policy: WaitPolicy, low_bound: u32) -> Self {
        Self {
            filter: CachePadded::new(Filter::new(policy, low_bound)),
            high: CachePadded::new(high),
            low: CachePadded::new(low),
        }
    }

    /// The high class's lock, for the other functions of its kind.
    pub fn high(&self) -> &H {
        &self.high
    }

    /// The low class's lock, for the other functions of its kind.
    pub fn low(&self) -> &L {
        &self.low
    }

    /// The number of times a low-priority thread got in only because `low_bound`
    /// critical sections had passed it.
    pub fn bound_reached(&self) -> u64 {
        self.filter.bound_reached()
    }

    /// The number of times the low class had been kept out for a high-priority thread that gave up.
    pub fn rescues(&self) -> u64 {
        self.filter.rescues()
    }

    /// Waits until the lock is the caller's, in the high class.
    #[inline]
    pub fn acquire_high(&self) -> TokenOf<H, L> {
        Class::High(if self.filter.take(Side::High) {
            None
        } else {
            self.acquire_slow(Side::High, &*self.high)
        })
    }

    /// Waits until the lock is the caller's, in the low class.
    #[inline]
    pub fn acquire_low(&self) -> TokenOf<H, L> {
        Class::Low(if self.filter.take(Side::Low) { None } else { self.acquire_slow(Side::Low, &*self.low) })
    }

    /// Tries the lock in the high class: see [`RawLock::try_acquire`].
    #[inline]
    pub fn try_acquire_high(&self) -> Option<TokenOf<H, L>> {
        self.try_acquire_side(Side::High, &*self.high).map(Class::High)
    }

    /// Tries the lock in the low class: see [`RawLock::try_acquire`].
    #[inline]
    pub fn try_acquire_low(&self) -> Option<TokenOf<H, L>> {
        self.try_acquire_side(Side::Low, &*self.low).map(Class::Low)
    }

    /// Waits for the lock in the high class until a deadline: see [`TimedLock::acquire_until`].
    #[must_use]
    pub fn acquire_high_until(&self, deadline_ns: u64) -> Option<TokenOf<H, L>>
    where
        H: TimedLock,
    {
        self.acquire_side_until(Side::High, &*self.high, deadline_ns).map(Class::High)
    }

    /// Waits for the lock in the low class until a deadline: see [`TimedLock::acquire_until`].
    #[must_use]
    pub fn acquire_low_until(&self, deadline_ns: u64) -> Option<TokenOf<H, L>>
    where
        L: TimedLock,
    {
        self.acquire_side_until(Side::Low, &*self.low, deadline_ns).map(Class::Low)
    }

    /// Acquires through the class's `queue`, unless the caller gets the word while it stands back.
    #[cold]
    fn acquire_slow<Q: RawLock>(&self, side: Side, queue: &Q) -> HeadToken<Q> {
        if side == Side::High && self.filter.take_before_any_queue() || self.filter.stand_back(side, None) {
            return None;
        }
        let token = queue.acquire();
        self.filter.compete(side, None, &HeadOfClass { lock: self, side, queue });
        Some(token)
    }

    /// Tries the word, and then the queue: if a reservation for a head that gave up keeps arrivals out, the
    /// thread that gets into the queue is the head.
    #[inline]
    fn try_acquire_side<Q: RawLock>(&self, side: Side, queue: &Q) -> Option<HeadToken<Q>> {
        if self.filter.take_as_arrival(side) {
            return Some(None);
        }
        if self.filter.is_held() {
            return None;
        }
        let token = queue.try_acquire()?;
        if self.take_as_head(side) {
            return Some(Some(token));
        }
        // SAFETY: this thread acquired it above, which gave this token.
        unsafe { queue.release(token) };
        None
    }

    fn acquire_side_until<Q: TimedLock>(
        &self,
        side: Side,
        queue: &Q,
        deadline_ns: u64,
    ) -> Option<HeadToken<Q>> {
        let deadline = Some(deadline_ns);
        if self.filter.take(side) || self.filter.stand_back(side, deadline) {
            return Some(None);
        }
        if let Some(token) = queue.acquire_until(deadline_ns) {
            if self.filter.compete(side, deadline, &HeadOfClass { lock: self, side, queue }) {
                return Some(Some(token));
            }
            self.filter.hand_on(side, queue.has_waiters());
            // SAFETY: this thread acquired it above, which gave this token.
            unsafe { queue.release(token) };
        }
        // Invariant 2.
        self.filter.give_up(side);
        None
    }

    /// Ends a critical section of that class, whose token is `token`. The caller is inside.
    #[inline(always)]
    fn leave<Q: RawLock>(&self, side: Side, queue: &Q, token: Option<Q::Token>) {
        match token {
            None => self.filter.leave(side),
            Some(token) => self.leave_as_head(side, queue, token),
        }
    }

    #[cold]
    fn leave_as_head<Q: RawLock>(&self, side: Side, queue: &Q, token: Q::Token) {
        self.filter.hand_on(side, queue.has_waiters());
        self.filter.leave(side);
        // SAFETY: this thread acquired it and kept its token.
        unsafe { queue.release(token) };
    }

    /// Takes the word if the caller, the head of its class, may. A low-priority head first checks the high
    /// class if that may be stranded.
    fn take_as_head(&self, side: Side) -> bool {
        let stranded = side == Side::Low && self.filter.may_be_stranded();
        self.filter.take_as_head(side) || stranded && self.rescue() && self.filter.take_as_head(side)
    }

    /// Lets the low class in if no high-priority thread is left. The caller is the head of the low class.
    #[cold]
    fn rescue(&self) -> bool {
        let Some(token) = self.high.try_acquire() else { return false };
        let forgotten = self.filter.clear_stranded();
        // SAFETY: this thread acquired it above, which gave this token.
        unsafe { self.high.release(token) };
        forgotten
    }
}

/// The head of one class before the filter.
struct HeadOfClass<'a, H: RawLock, L: RawLock<Platform = PlatformOf<H>>, Q> {
    lock: &'a TwoLevel<H, L>,
    side: Side,
    queue: &'a Q,
}

impl<H: RawLock, L: RawLock<Platform = PlatformOf<H>>, Q: RawLock> Contest for HeadOfClass<'_, H, L, Q> {
    fn take(&self) -> bool {
        self.lock.take_as_head(self.side)
    }

    fn company(&self) -> bool {
        self.queue.has_waiters()
    }

    fn longest_sleep(&self) -> Option<Duration> {
        let checks = self.side == Side::Low && self.lock.filter.may_be_stranded();
        checks.then_some(filter::CHECK_STRANDED_EVERY)
    }
}

// SAFETY: exclusion and order by the filter (its invariant 1), liveness by invariants 1 and 2.
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
            Class::High(token) => self.leave(Side::High, &*self.high, token),
            Class::Low(token) => self.leave(Side::Low, &*self.low, token),
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.filter.has_waiters()
    }
}

// SAFETY: a thread that gives up was never given the lock of its class, or hands it on; invariant 2
// says why others still enter.
unsafe impl<H: TimedLock, L: RawLock<Platform = H::Platform>> TimedLock for TwoLevel<H, L> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Self::Token> {
        self.acquire_high_until(deadline_ns)
    }
}

// SAFETY: exclusion and order by the filter (its invariant 1), which treats both classes alike; liveness by
// invariants 1 and 2.
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
