//! RMA-RW with a word before the queues, so that processes that run may come again past those that wait.
//!
//! Writers take turns by [`Fissile`]. A reader enters as in [`RmaRw`]: it is
//! counted at its counter. Where a writer has marked that, the strict form lets the reader stay counted, and
//! the next writer waits for it: with more processes than cores each change of phase then waits until all
//! those readers have had a core. Here the reader takes itself out again and waits in the writers' queues;
//! only as their head does it look at its counter, and stays counted after a while.
//!
//! 1. A reader takes itself out only as long as the mark of the writer that it has seen is there. If that
//!    writer has let the readers in, the reader is inside: the next writer waits for it. So the mark and the
//!    phase together change at most once while it is counted.
//! 2. The word of the phase (how many writers have had the lock since the counters were marked, 0 if they
//!    are not) is read and written by the process that has the lock for writing, and nobody else.
//! 3. A writer leaves the counters marked only for a head that is a writer. It enters next but for a bounded
//!    number of writers, so readers are let in after `writers` of them.
//!
//! **Fairness.** Of writers among each other: as [`Fissile`]'s. Writers pass a reader that is
//! the head of the queues for a while, and at most `writers` times once it stays counted. Readers pass a
//! writer that has the word only if they came before it marked their counter.

use crate::fissile::Fissile;
use crate::layout::Layout;
use crate::rma::{Rank, Rma, Word};
use crate::rw::RmaRw;

/// The reader-writer lock of the paper, with a word before its queues.
#[derive(Debug, Clone)]
pub struct FissileRw {
    rw: RmaRw,
    turns: Fissile,
    phase: Word,
    writers: u64,
}

impl FissileRw {
    /// `locality` and `writers` as for [`RmaRw::new`], `bypasses` as for [`Fissile::new`]; with 0 it is
    /// [`RmaRw`].
    ///
    /// # Panics
    /// As [`RmaRw::new`].
    pub fn new(layout: Layout, locality: Vec<u64>, writers: u64, bypasses: u64) -> FissileRw {
        let phase = Fissile::words(&layout);
        let rw = RmaRw::new(layout.clone(), locality.clone(), writers);
        FissileRw { rw, turns: Fissile::new(layout, locality, bypasses), phase, writers }
    }

    /// As [`Fissile::with_attempts`].
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> FissileRw {
        self.turns = self.turns.with_attempts(attempts);
        self
    }

    /// As [`RmaRw::with_readers`]: a writer that was the head of the queues waits for so many readers, a
    /// while at most, where the readers have their turn. A writer that enters past the queues waits for none.
    #[must_use]
    pub fn with_readers(mut self, readers: u64) -> FissileRw {
        self.rw = self.rw.with_readers(readers);
        self
    }

    /// The number of words that each process keeps.
    pub fn words(layout: &Layout) -> usize {
        FissileRw::words_of(layout.levels())
    }

    /// The number of words that each process keeps with so many levels.
    pub fn words_of(levels: usize) -> usize {
        Layout::words_of(levels) + 2
    }

    /// Waits until the caller may write. `home` keeps the word and the phase.
    #[inline]
    pub async fn acquire_write(&self, rma: &impl Rma, home: Rank) {
        if self.turns.is_strict() {
            return self.rw.acquire_write(rma).await;
        }
        let was_head = self.turns.enter(rma, home).await;
        if rma.get(home, self.phase).await == 0 {
            if was_head {
                self.rw.wait_for_readers(rma).await;
            }
            self.rw.keep_readers_out(rma).await;
        }
    }

    /// Ends the caller's writing.
    #[inline]
    pub async fn release_write(&self, rma: &impl Rma, home: Rank) {
        if self.turns.is_strict() {
            return self.rw.release_write(rma).await;
        }
        let before = rma.get(home, self.phase).await;
        let after = if before + 1 < self.writers && self.turns.has_head(rma, home).await {
            before + 1
        } else {
            self.rw.let_all_readers_in(rma).await;
            0
        };
        if after != before {
            rma.put(after, home, self.phase).await;
            // The next writer reads it.
            rma.flush(home).await;
        }
        self.turns.release(rma, home).await;
    }

    /// Waits until the caller may read.
    #[inline]
    pub async fn acquire_read(&self, rma: &impl Rma) {
        if self.turns.is_strict() {
            return self.rw.acquire_read(rma).await;
        }
        if !self.rw.visit_as_reader(rma).await {
            self.turns.order().acquire(rma).await;
            self.read_as_head(rma).await;
            self.turns.order().release(rma).await;
        }
    }

    async fn read_as_head(&self, rma: &impl Rma) {
        for _ in 0..self.turns.attempts() {
            if !self.rw.wait_for_writer(rma).await {
                break;
            }
            if self.rw.visit_as_reader(rma).await {
                return;
            }
        }
        self.rw.acquire_read(rma).await;
    }

    /// Ends the caller's reading.
    #[inline]
    pub async fn release_read(&self, rma: &impl Rma) {
        self.rw.release_read(rma).await;
    }
}
