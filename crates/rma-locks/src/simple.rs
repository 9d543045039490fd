//! The locks of foMPI that the paper compares with: one word at one process, taken by compare-and-swap.

use crate::rma::{Rank, Rma, Word};

/// A writer has the lock.
const WRITER: u64 = 1 << 63;

/// foMPI-Spin: a word that is 0 or 1. Not fair.
#[derive(Debug, Clone, Copy)]
pub struct Spin {
    /// The process that keeps the word.
    pub home: Rank,
    /// The word.
    pub word: Word,
}

impl Spin {
    /// Waits until the lock is the caller's.
    pub async fn acquire(&self, rma: &impl Rma) {
        while rma.compare_and_swap(1, 0, self.home, self.word).await != 0 {
            rma.wait_until(self.home, self.word, |value| value == 0).await;
        }
    }

    /// Takes the lock if it is free.
    pub async fn try_acquire(&self, rma: &impl Rma) -> bool {
        rma.compare_and_swap(1, 0, self.home, self.word).await == 0
    }

    /// Releases the lock, which is the caller's.
    pub async fn release(&self, rma: &impl Rma) {
        rma.put(0, self.home, self.word).await;
        rma.flush(self.home).await;
    }
}

/// foMPI-RW: a word that counts readers, with a bit for a writer. Readers may starve writers.
#[derive(Debug, Clone, Copy)]
pub struct SimpleRw {
    /// The process that keeps the word.
    pub home: Rank,
    /// The word.
    pub word: Word,
}

impl SimpleRw {
    /// Waits until the caller may read.
    pub async fn acquire_read(&self, rma: &impl Rma) {
        while rma.fetch_add(1, self.home, self.word).await & WRITER != 0 {
            rma.add(1u64.wrapping_neg(), self.home, self.word).await;
            rma.flush(self.home).await;
            rma.wait_until(self.home, self.word, |value| value & WRITER == 0).await;
        }
    }

    /// Reads if no writer has the lock.
    pub async fn try_acquire_read(&self, rma: &impl Rma) -> bool {
        let may_read = rma.fetch_add(1, self.home, self.word).await & WRITER == 0;
        if !may_read {
            self.release_read(rma).await;
        }
        may_read
    }

    /// Ends the caller's reading.
    pub async fn release_read(&self, rma: &impl Rma) {
        rma.add(1u64.wrapping_neg(), self.home, self.word).await;
        rma.flush(self.home).await;
    }

    /// Waits until the caller may write.
    pub async fn acquire_write(&self, rma: &impl Rma) {
        while rma.compare_and_swap(WRITER, 0, self.home, self.word).await != 0 {
            rma.wait_until(self.home, self.word, |value| value == 0).await;
        }
    }

    /// Writes if no process has the lock.
    pub async fn try_acquire_write(&self, rma: &impl Rma) -> bool {
        rma.compare_and_swap(WRITER, 0, self.home, self.word).await == 0
    }

    /// Ends the caller's writing.
    pub async fn release_write(&self, rma: &impl Rma) {
        // Readers that try meanwhile are counted for a moment, so the bit is taken away and not the word.
        rma.add(WRITER.wrapping_neg(), self.home, self.word).await;
        rma.flush(self.home).await;
    }
}
