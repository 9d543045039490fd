//! A reader-writer word with a queue for those that wait.
//!
//! One word at one process says who is inside; a process that finds it free enters by one operation, past all
//! that wait. The others wait in a distributed queue (D-MCS), each on a word of its own, and only its first
//! process looks at the word. If it has waited for a while it reserves the word, so that nobody enters past
//! it any more. Where there are more processes than cores this matters: a lock that is handed on in strict
//! order goes to processes without a core, while here those that run keep it for a while.
//!
//! The shape is that of Linux's queue rwlocks (Long, 2014), whose queue is a spin lock's; the bounded bypass
//! is that of the admission word of Heddle's local locks.
//!
//! | word | meaning |
//! |---|---|
//! | `WRITER` | a writer is inside |
//! | `RESERVED` | the first process of the queue waits, and nobody else may enter |
//! | the rest | readers inside, and those that are about to find that they may not enter |
//!
//! 1. `WRITER` is set only where the word is 0 or `RESERVED` alone, so no reader is inside.
//! 2. A reader that adds itself and finds `WRITER` or, unless it is the first of the queue,
//!    `RESERVED`, takes itself out again.
//! 3. Only the first process of the queue sets `RESERVED`, and takes it away when it enters. Meanwhile no
//!    writer enters, so once `WRITER` is gone it stays away until that process acts.
//!
//! **Fairness.** Those that wait enter in the order of the queue. The first of them is passed by others for a
//! while only, which the implementation of [`Rma::wait_a_while`] chooses, or for a number of failed attempts.

use crate::layout::Layout;
use crate::queue::{Queue, START};
use crate::rma::{Rank, Rma, Word};

/// A writer has the lock.
const WRITER: u64 = 1 << 63;
/// Nobody but the first process of the queue may enter.
const RESERVED: u64 = 1 << 62;
/// A reader less.
const ONE_LESS: u64 = 1u64.wrapping_neg();

/// A reader-writer lock in one word, with a queue.
#[derive(Debug, Clone)]
pub struct QueueRw {
    layout: Layout,
    attempts: u32,
}

impl QueueRw {
    /// A lock of so many processes. The first of the queue reserves the lock after `attempts`
    /// failed ones, if not before.
    ///
    /// # Panics
    /// If there are no processes.
    pub fn new(processes: usize, attempts: u32) -> QueueRw {
        QueueRw { layout: Layout::flat(processes, processes), attempts }
    }

    /// The number of words that each process keeps.
    pub fn words(processes: usize) -> usize {
        Layout::flat(processes, processes).words() + 1
    }

    fn word(&self) -> Word {
        self.layout.words()
    }

    fn queue(&self, rma: &impl Rma, home: Rank) -> Queue<'_> {
        Queue::at(&self.layout, rma.rank(), home)
    }

    /// Leaves the queue, so that the next process is the first.
    async fn leave(&self, rma: &impl Rma, home: Rank) {
        let queue = self.queue(rma, home);
        let successor = match queue.successor(rma).await {
            Some(successor) => Some(successor),
            None => queue.leave(rma).await,
        };
        if let Some(successor) = successor {
            queue.pass(rma, successor, START).await;
        }
    }

    /// Waits until the caller may write. `home` keeps the word and the end of the queue.
    #[inline]
    pub async fn acquire_write(&self, rma: &impl Rma, home: Rank) {
        if !self.try_acquire_write(rma, home).await {
            self.queue_to_write(rma, home).await;
        }
    }

    /// Waits in the queue until the caller may write, after [an attempt](Self::try_acquire_write) that has
    /// failed.
    pub async fn queue_to_write(&self, rma: &impl Rma, home: Rank) {
        self.queue(rma, home).enter(rma).await;
        self.write_as_first(rma, home).await;
        self.leave(rma, home).await;
    }

    /// Writes if nobody is inside and the lock is not reserved, past those that wait.
    #[inline]
    pub async fn try_acquire_write(&self, rma: &impl Rma, home: Rank) -> bool {
        rma.compare_and_swap(WRITER, 0, home, self.word()).await == 0
    }

    async fn write_as_first(&self, rma: &impl Rma, home: Rank) {
        for _ in 0..self.attempts {
            if rma.wait_a_while(home, self.word(), |word| word == 0).await.is_none() {
                break;
            }
            if rma.compare_and_swap(WRITER, 0, home, self.word()).await == 0 {
                return;
            }
        }
        rma.fetch_add(RESERVED, home, self.word()).await;
        loop {
            rma.wait_until(home, self.word(), |word| word == RESERVED).await;
            if rma.compare_and_swap(WRITER, RESERVED, home, self.word()).await == RESERVED {
                return;
            }
        }
    }

    /// Ends the caller's writing.
    #[inline]
    pub async fn release_write(&self, rma: &impl Rma, home: Rank) {
        // Readers that try meanwhile are counted for a moment, so the bit is taken away and not the word.
        rma.add(WRITER.wrapping_neg(), home, self.word()).await;
        rma.flush(home).await;
    }

    /// Waits until the caller may read.
    #[inline]
    pub async fn acquire_read(&self, rma: &impl Rma, home: Rank) {
        if !self.try_acquire_read(rma, home).await {
            self.queue_to_read(rma, home).await;
        }
    }

    /// Waits in the queue until the caller may read, after [an attempt](Self::try_acquire_read) that has
    /// failed.
    pub async fn queue_to_read(&self, rma: &impl Rma, home: Rank) {
        self.queue(rma, home).enter(rma).await;
        self.read_as_first(rma, home).await;
        self.leave(rma, home).await;
    }

    /// Reads if no writer is inside and the lock is not reserved, past those that wait.
    #[inline]
    pub async fn try_acquire_read(&self, rma: &impl Rma, home: Rank) -> bool {
        let may_read = rma.fetch_add(1, home, self.word()).await & (WRITER | RESERVED) == 0;
        if !may_read {
            self.take_out(rma, home).await;
        }
        may_read
    }

    #[inline]
    async fn take_out(&self, rma: &impl Rma, home: Rank) {
        rma.add(ONE_LESS, home, self.word()).await;
        rma.flush(home).await;
    }

    async fn read_as_first(&self, rma: &impl Rma, home: Rank) {
        for _ in 0..self.attempts {
            if rma.wait_a_while(home, self.word(), |word| word & WRITER == 0).await.is_none() {
                break;
            }
            if rma.fetch_add(1, home, self.word()).await & WRITER == 0 {
                return;
            }
            self.take_out(rma, home).await;
        }
        rma.fetch_add(RESERVED, home, self.word()).await;
        rma.wait_until(home, self.word(), |word| word & WRITER == 0).await;
        rma.fetch_add(1u64.wrapping_sub(RESERVED), home, self.word()).await;
    }

    /// Ends the caller's reading.
    #[inline]
    pub async fn release_read(&self, rma: &impl Rma, home: Rank) {
        self.take_out(rma, home).await;
    }
}
