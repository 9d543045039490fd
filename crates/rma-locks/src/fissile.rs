//! A word before the queues: a process that runs may come again, a bounded number of times, past those that
//! wait.
//!
//! A lock that is handed on in strict order goes to processes without a core where there are more processes
//! than cores, and each hand-over costs a switch between processes. So one word at one process decides who
//! is inside. A process that finds it free enters by one operation. The others wait in the tree of queues,
//! and only the process that has reached its root (the *head*) waits for the word. While any process waits,
//! the word counts those that enter past the queue; when they are as many as allowed, only the head may
//! enter, which begins a new count. The head leaves the queues as soon as it is inside, so that the next
//! process is the head.
//!
//! **Source.** Dice, Kogan: *Fissile locks* (NETYS 2020, doi:10.1007/978-3-030-67087-0_13), as for Heddle's
//! local locks. Here those that enter are counted, and not the time: processes share no clock.
//!
//! | word | meaning |
//! |---|---|
//! | `HELD` | a process is inside |
//! | `HEAD` | the head waits for the word |
//! | `RESERVED` | the head has waited for long, and nobody else may enter |
//! | `WAITER`s | how many processes have come to wait and are not inside yet |
//! | the rest | how many processes have entered past those that wait, since the last head entered |
//!
//! 1. Only the process that set `HELD` takes it away, and nobody sets it where it is set. So that process is
//!    alone inside.
//! 2. The head alone sets `HEAD` and `RESERVED`. By entering it takes both away, and its `WAITER`.
//! 3. Once `RESERVED` is set or the count is full, nobody but the head sets `HELD`. Then some process waits,
//!    and each that waits becomes the head, since every head enters and leaves the queues.
//!
//! **Fairness.** Processes become heads in the order of the queues. Between two heads at most
//! [`new`](Fissile::new)'s `bypasses` processes enter past those that wait, whether these run or not. A head
//! that runs also reserves the word after the while that the implementation of [`Rma::wait_a_while`] chooses,
//! so it does not wait for all of them if their critical sections are long. With 0 `bypasses` the word is not
//! used: the order is that of the queues.

use crate::layout::Layout;
use crate::mcs::RmaMcs;
use crate::rma::{Rank, Rma, Word};

/// A process has the lock.
const HELD: u64 = 1 << 63;
/// The head waits for the word.
const HEAD: u64 = 1 << 62;
/// Nobody but the head may enter.
const RESERVED: u64 = 1 << 61;
/// A process that waits: there are 21 bits for their number.
const WAITER: u64 = 1 << 40;
/// All of them.
const WAITERS: u64 = RESERVED - WAITER;
/// Those that have entered past them.
const COUNT: u64 = WAITER - 1;

/// How often the head finds the word free, and another process enters, before the head reserves the word.
const ATTEMPTS: u32 = 16;

/// The tree of queues, with a word before it.
#[derive(Debug, Clone)]
pub struct Fissile {
    order: RmaMcs,
    word: Word,
    bypasses: u64,
    attempts: u32,
}

impl Fissile {
    /// `locality` as for [`RmaMcs::new`]; at most `bypasses` processes enter past a head; 0 for the strict
    /// order.
    ///
    /// # Panics
    /// As [`RmaMcs::new`].
    pub fn new(layout: Layout, locality: Vec<u64>, bypasses: u64) -> Fissile {
        let word = layout.words();
        Fissile {
            order: RmaMcs::new(layout, locality),
            word,
            bypasses: bypasses.min(COUNT),
            attempts: ATTEMPTS,
        }
    }

    /// The same lock, whose head reserves the word after so many failed attempts, if not before.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Fissile {
        self.attempts = attempts;
        self
    }

    /// The number of words that each process keeps.
    pub fn words(layout: &Layout) -> usize {
        layout.words() + 1
    }

    /// Returns true if the order is that of the queues.
    pub(crate) fn is_strict(&self) -> bool {
        self.bypasses == 0
    }

    /// The queues.
    pub(crate) fn order(&self) -> &RmaMcs {
        &self.order
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns true if a process may enter that is not the head.
    fn may_enter(&self, word: u64) -> bool {
        word & (HELD | RESERVED) == 0 && (word & WAITERS == 0 || word & COUNT < self.bypasses)
    }

    /// Waits until the lock is the caller's. `home` keeps the word.
    #[inline]
    pub async fn acquire(&self, rma: &impl Rma, home: Rank) {
        if self.is_strict() {
            return self.order.acquire(rma).await;
        }
        self.enter(rma, home).await;
    }

    /// Waits until the word is the caller's. Returns true if it came as the head of the queues.
    #[inline]
    pub(crate) async fn enter(&self, rma: &impl Rma, home: Rank) -> bool {
        if self.try_enter(rma, home).await {
            return false;
        }
        rma.fetch_add(WAITER, home, self.word).await;
        self.order.acquire(rma).await;
        self.enter_as_head(rma, home).await;
        self.order.release(rma).await;
        true
    }

    /// Takes the lock if no process has it, past those that wait. In the strict order: if none waits, either.
    #[inline]
    pub async fn try_acquire(&self, rma: &impl Rma, home: Rank) -> bool {
        if self.is_strict() { self.order.try_acquire(rma).await } else { self.try_enter(rma, home).await }
    }

    #[inline]
    async fn try_enter(&self, rma: &impl Rma, home: Rank) -> bool {
        let mut word = 0;
        loop {
            let passes = u64::from(word & WAITERS != 0);
            let before = rma.compare_and_swap((word + passes) | HELD, word, home, self.word).await;
            if before == word {
                return true;
            }
            if !self.may_enter(before) {
                return false;
            }
            // Processes have come to wait, or another one has entered and left.
            word = before;
        }
    }

    async fn enter_as_head(&self, rma: &impl Rma, home: Rank) {
        let is_free = |word| word & HELD == 0;
        rma.fetch_add(HEAD, home, self.word).await;
        let mut attempts = 0;
        loop {
            let word = match rma.wait_a_while(home, self.word, is_free).await {
                Some(word) if attempts < self.attempts => word,
                _ => break,
            };
            if self.enter_with(rma, home, word).await {
                return;
            }
            attempts += 1;
        }
        rma.fetch_add(RESERVED, home, self.word).await;
        loop {
            let word = rma.wait_until(home, self.word, is_free).await;
            // It fails only if another process has come to wait.
            if self.enter_with(rma, home, word).await {
                return;
            }
        }
    }

    /// Enters as the head, if the word is still this one.
    async fn enter_with(&self, rma: &impl Rma, home: Rank, word: u64) -> bool {
        let waiters = (word & WAITERS) - WAITER;
        rma.compare_and_swap(HELD | waiters, word, home, self.word).await == word
    }

    /// Returns true if the head waits for the caller's lock.
    pub(crate) async fn has_head(&self, rma: &impl Rma, home: Rank) -> bool {
        rma.get(home, self.word).await & HEAD != 0
    }

    /// Releases the lock, which is the caller's.
    #[inline]
    pub async fn release(&self, rma: &impl Rma, home: Rank) {
        if self.is_strict() {
            return self.order.release(rma).await;
        }
        // Others may come to wait meanwhile, so the bit is taken away and the word is not overwritten.
        rma.add(HELD.wrapping_neg(), home, self.word).await;
        rma.flush(home).await;
    }
}
