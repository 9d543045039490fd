//! Any lock, with counters for its acquisitions, hand-overs and times.
//!
//! In a wrapped lock an acquisition costs two readings of the cycle counter, a reading of the processor's
//! number, two searches in the threads' table and a handful of stores more. It first tries the lock, to know
//! whether it has to wait; on a free lock this takes another path of the lock at the same cost. A lock that
//! is not wrapped pays nothing.
//!
//! A wrapped [`TwoLevel`](crate::TwoLevel) counts both classes together; to count them
//! separately, wrap its inner locks.

use heddle_platform::Platform;
use heddle_platform::platform::MemoryCell;
use heddle_sync::statistics::{Histogram, HistogramSnapshot, PerThread, Tally};
use heddle_sync::{PriorityLock, RawLock, TimedLock};
use std::fmt;

/// The smallest unit that two hardware threads share, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Near {
    /// They are the same.
    HardwareThread,
    /// A core.
    Core,
    /// A last-level cache.
    L3,
    /// A memory node.
    Numa,
    /// A package.
    Package,
    /// Only the machine.
    Machine,
}

impl Near {
    /// All of them, the nearest first.
    pub const ALL: [Self; 6] =
        [Self::HardwareThread, Self::Core, Self::L3, Self::Numa, Self::Package, Self::Machine];
}

/// How near hardware threads are, by the system's numbers. A function of two numbers implements it.
pub trait Distance: Send + Sync {
    /// The smallest unit that the two share.
    fn between(&self, one: usize, other: usize) -> Near;
}

impl<F: Fn(usize, usize) -> Near + Send + Sync> Distance for F {
    fn between(&self, one: usize, other: usize) -> Near {
        self(one, other)
    }
}

/// The counts of one thread.
struct Record<P: Platform> {
    acquisitions: Tally<P>,
    contended: Tally<P>,
    refused: Tally<P>,
    gave_up: Tally<P>,
    hand_overs: [Tally<P>; Near::ALL.len()],
    waited: Histogram<P>,
    held: Histogram<P>,
}

impl<P: Platform> Default for Record<P> {
    fn default() -> Self {
        Self {
            acquisitions: Tally::default(),
            contended: Tally::default(),
            refused: Tally::default(),
            gave_up: Tally::default(),
            hand_overs: std::array::from_fn(|_| Tally::default()),
            waited: Histogram::default(),
            held: Histogram::default(),
        }
    }
}

/// The counts of a lock, by one thread or by all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockStatistics {
    /// How many times it was acquired.
    pub acquisitions: u64,
    /// How many of these had to wait.
    pub contended: u64,
    /// How many times a try found it taken.
    pub refused: u64,
    /// How many times a waiter gave up.
    pub gave_up: u64,
    /// The number of acquisitions that came after one by another thread, for each nearness of that thread, in
    /// the order of [`Near::ALL`].
    pub hand_overs: [u64; Near::ALL.len()],
    /// How long waiters waited, also those that gave up, in [`Platform::ticks`].
    pub waited: HistogramSnapshot,
    /// How long it was held, in [`Platform::ticks`].
    pub held: HistogramSnapshot,
}

impl LockStatistics {
    fn of<P: Platform>(record: &Record<P>) -> Self {
        Self {
            acquisitions: record.acquisitions.get(),
            contended: record.contended.get(),
            refused: record.refused.get(),
            gave_up: record.gave_up.get(),
            hand_overs: std::array::from_fn(|near| record.hand_overs[near].get()),
            waited: record.waited.snapshot(),
            held: record.held.snapshot(),
        }
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Self) {
        self.acquisitions += other.acquisitions;
        self.contended += other.contended;
        self.refused += other.refused;
        self.gave_up += other.gave_up;
        for (mine, theirs) in self.hand_overs.iter_mut().zip(&other.hand_overs) {
            *mine += theirs;
        }
        self.waited.merge(&other.waited);
        self.held.merge(&other.held);
    }

    /// The number of acquisitions that came after one by a thread of that nearness.
    #[must_use]
    pub fn hand_overs_to(&self, near: Near) -> u64 {
        self.hand_overs[near as usize]
    }
}

/// The thread that held the lock last, and its hardware thread.
#[derive(Clone, Copy, Debug)]
struct Holder {
    thread: u64,
    hardware_thread: usize,
}

/// A lock `L`, with its acquisitions, hand-overs and times counted.
pub struct Counted<L: RawLock, D> {
    lock: L,
    distance: D,
    records: PerThread<Record<L::Platform>, L::Platform>,
    /// `lock` guards it.
    last: <L::Platform as Platform>::Cell<Option<Holder>>,
}

// SAFETY: `last` is touched only while `lock` is held, which orders the accesses; all other fields are Sync.
unsafe impl<L: RawLock, D: Sync> Sync for Counted<L, D> {}
// SAFETY: `last` is plain numbers; all other fields are Send.
unsafe impl<L: RawLock, D: Send> Send for Counted<L, D> {}

/// What an acquisition of a [`Counted`] lock hands to its release.
#[derive(Debug)]
pub struct Held<T> {
    token: T,
    since: u64,
}

impl<L: RawLock, D: Distance> Counted<L, D> {
    /// Counts the use of `lock` from now on; `distance` says how far a hand-over goes.
    #[must_use]
    pub fn new(lock: L, distance: D) -> Self {
        Self { lock, distance, records: PerThread::default(), last: MemoryCell::new(None) }
    }

    /// The lock itself.
    pub fn under(&self) -> &L {
        &self.lock
    }

    /// The counts so far of each thread that used the lock; threads beyond 128 are counted together.
    pub fn by_thread(&self) -> Vec<LockStatistics> {
        let of_each = self.records.blocks().map(LockStatistics::of);
        of_each.filter(|counts| *counts != LockStatistics::default()).collect()
    }

    /// The counts so far of all threads.
    pub fn statistics(&self) -> LockStatistics {
        self.records.blocks().fold(LockStatistics::default(), |mut sum, record| {
            sum.merge(&LockStatistics::of(record));
            sum
        })
    }

    #[inline]
    fn acquire_by(
        &self,
        attempt: impl FnOnce() -> Option<L::Token>,
        wait: impl FnOnce() -> Option<L::Token>,
    ) -> Option<Held<L::Token>> {
        if let Some(token) = attempt() {
            return Some(self.entered(token, L::Platform::ticks()));
        }
        let begin = L::Platform::ticks();
        let token = wait();
        let now = L::Platform::ticks();
        let mine = self.records.mine();
        mine.value.waited.record(now.wrapping_sub(begin), mine.writers);
        let outcome = if token.is_some() { &mine.value.contended } else { &mine.value.gave_up };
        outcome.add(1, mine.writers);
        token.map(|token| self.entered(token, now))
    }

    #[inline]
    fn try_by(&self, attempt: impl FnOnce() -> Option<L::Token>) -> Option<Held<L::Token>> {
        let token = attempt();
        if token.is_none() {
            let mine = self.records.mine();
            mine.value.refused.add(1, mine.writers);
        }
        token.map(|token| self.entered(token, L::Platform::ticks()))
    }

    /// Counts an acquisition. The caller holds the lock.
    #[inline]
    fn entered(&self, token: L::Token, since: u64) -> Held<L::Token> {
        let mine = self.records.mine();
        mine.value.acquisitions.add(1, mine.writers);
        let me = Holder { thread: L::Platform::thread_id(), hardware_thread: L::Platform::hardware_thread() };
        // SAFETY: the caller holds the lock, which guards it.
        let last = self.last.with_mut(|last| unsafe { &mut *last }.replace(me));
        if let Some(last) = last
            && last.thread != me.thread
        {
            let near = self.distance.between(last.hardware_thread, me.hardware_thread);
            mine.value.hand_overs[near as usize].add(1, mine.writers);
        }
        Held { token, since }
    }
}

impl<L: RawLock + fmt::Debug, D> fmt::Debug for Counted<L, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counted").field("lock", &self.lock).finish_non_exhaustive()
    }
}

// SAFETY: the inner lock keeps the promises; counting does not wait.
unsafe impl<L: RawLock, D: Distance> RawLock for Counted<L, D> {
    type Platform = L::Platform;
    type Token = Held<L::Token>;

    #[inline]
    fn acquire(&self) -> Self::Token {
        let held = self.acquire_by(|| self.lock.try_acquire(), || Some(self.lock.acquire()));
        held.expect("acquire gives a token")
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        self.try_by(|| self.lock.try_acquire())
    }

    #[inline]
    unsafe fn release(&self, held: Self::Token) {
        let now = L::Platform::ticks();
        // SAFETY: the caller's promise is the same; the token is of the acquisition below this one.
        unsafe { self.lock.release(held.token) };
        let mine = self.records.mine();
        mine.value.held.record(now.wrapping_sub(held.since), mine.writers);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.lock.has_waiters()
    }
}

// SAFETY: the inner lock keeps the promises; counting does not wait.
unsafe impl<L: TimedLock, D: Distance> TimedLock for Counted<L, D> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Self::Token> {
        self.acquire_by(|| self.lock.try_acquire(), || self.lock.acquire_until(deadline_ns))
    }
}

// SAFETY: the inner lock keeps the promises; counting does not wait.
unsafe impl<L: PriorityLock, D: Distance> PriorityLock for Counted<L, D> {
    fn acquire_low(&self) -> Self::Token {
        let held = self.acquire_by(|| self.lock.try_acquire_low(), || Some(self.lock.acquire_low()));
        held.expect("acquire_low gives a token")
    }

    fn try_acquire_low(&self) -> Option<Self::Token> {
        self.try_by(|| self.lock.try_acquire_low())
    }
}
