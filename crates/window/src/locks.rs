//! The words of a window's locks, for `heddle-rma-locks`.

use crate::geometry::WordAt;
use crate::remote::{Change, Remote};
use crate::window::Window;
use heddle_rma_locks::{Rank, Rma, Word};

impl Window {
    /// Waits until the lock of a target is this process's.
    pub(crate) fn acquire(&self, target: Rank, shared: bool) {
        match self.remote().on_one_machine() {
            Some(machine) => self.acquire_by(machine, target, shared),
            None => self.acquire_far(target, shared),
        }
    }

    #[inline(always)]
    fn acquire_by(&self, remote: &impl Remote, target: Rank, shared: bool) {
        self.lock().acquire(Words::new(self, remote, target), target, shared);
    }

    #[cold]
    fn acquire_far(&self, target: Rank, shared: bool) {
        self.acquire_by(self.remote(), target, shared);
    }

    /// Releases the lock of a target.
    pub(crate) fn release_lock(&self, target: Rank, shared: bool) {
        match self.remote().on_one_machine() {
            Some(machine) => self.release_by(machine, target, shared),
            None => self.release_far(target, shared),
        }
    }

    #[inline(always)]
    fn release_by(&self, remote: &impl Remote, target: Rank, shared: bool) {
        self.lock().release(Words::new(self, remote, target), target, shared);
    }

    #[cold]
    fn release_far(&self, target: Rank, shared: bool) {
        self.release_by(self.remote(), target, shared);
    }
}

/// The words of one target's lock.
struct Words<'a, R> {
    rank: Rank,
    remote: &'a R,
    /// The first of the words in every process's block.
    first: WordAt,
}

impl<R> Clone for Words<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Words<'_, R> {}

impl<'a, R: Remote> Words<'a, R> {
    #[inline(always)]
    fn new(window: &Window, remote: &'a R, target: Rank) -> Words<'a, R> {
        Words { rank: window.rank(), remote, first: remote.geometry().lock(target) }
    }

    #[inline(always)]
    fn at(&self, word: Word) -> WordAt {
        self.first.of_lock(word)
    }

    /// Changes a word, and wakes the processes that wait for it.
    #[inline(always)]
    fn change(&self, keeper: Rank, word: Word, change: Change) -> u64 {
        let before = self.remote.change(keeper, self.at(word), change);
        // A compare-and-swap that fails changes nothing.
        if !matches!(change, Change::CompareAndSwap { expected, .. } if expected != before) {
            self.remote.announce(keeper, self.at(word));
        }
        before
    }
}

/// An operation on a word is done when its function returns, so a flush has nothing to do.
impl<R: Remote> Rma for Words<'_, R> {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.rank
    }

    #[inline(always)]
    async fn put(&self, value: u64, keeper: Rank, word: Word) {
        self.remote.store(keeper, self.at(word), value);
        self.remote.announce(keeper, self.at(word));
    }

    #[inline(always)]
    async fn get(&self, keeper: Rank, word: Word) -> u64 {
        self.remote.load(keeper, self.at(word))
    }

    #[inline(always)]
    async fn add(&self, operand: u64, keeper: Rank, word: Word) {
        self.change(keeper, word, Change::Add(operand));
    }

    #[inline(always)]
    async fn fetch_add(&self, operand: u64, keeper: Rank, word: Word) -> u64 {
        self.change(keeper, word, Change::Add(operand))
    }

    #[inline(always)]
    async fn swap(&self, value: u64, keeper: Rank, word: Word) -> u64 {
        self.change(keeper, word, Change::Swap(value))
    }

    #[inline(always)]
    async fn compare_and_swap(&self, value: u64, expected: u64, keeper: Rank, word: Word) -> u64 {
        self.change(keeper, word, Change::CompareAndSwap { expected, value })
    }

    #[inline(always)]
    async fn flush(&self, _: Rank) {}

    #[inline(always)]
    async fn wait_until(&self, keeper: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        let mut last = 0;
        self.remote.wait(keeper, self.at(word), |value| {
            last = value;
            is_over(value)
        });
        last
    }

    #[inline(always)]
    async fn wait_a_while(&self, keeper: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let mut last = 0;
        let accepted = self.remote.wait_a_while(keeper, self.at(word), |value| {
            last = value;
            is_over(value)
        });
        accepted.then_some(last)
    }
}
