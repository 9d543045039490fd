//! Attempts: they take the lock if nobody has it or waits in front of it, and change nothing otherwise.
//!
//! 1. An attempt to read is counted only where it knows that it may enter, by one compare-and-swap of an open
//!    counter without a mark. That is what a reader does by its addition that finds no mark.
//! 2. An attempt to write marks a counter only if all readers that have come there have gone, so it waits for
//!    none. If a later counter has readers, the marks are taken away and a new phase begins there, for
//!    readers may wait for that.
//! 3. A refused attempt to write changes neither the setting nor what is measured: no turn of writers began.

use super::branch::{self, Climbed};
use super::{AdaptiveRw, CLOSED, COUNT, Reader, WRITE, coarseness_in, phase_after};
use crate::queue::MODE_CHANGE;
use crate::rma::{Rank, Rma};

impl AdaptiveRw {
    /// Reads if no writer has the lock or waits for readers to go. A refused reader leaves no trace.
    pub async fn try_acquire_read(&self, rma: &impl Rma, reader: &mut Reader) -> bool {
        let arrive = self.layout.arrive();
        let mut coarseness = reader.hint;
        loop {
            let counter = self.counter(rma.rank(), coarseness);
            let mut now = rma.get(counter, arrive).await;
            while now & (WRITE | CLOSED) == 0 {
                let before = rma.compare_and_swap(now + 1, now, counter, arrive).await;
                if before == now {
                    *reader = Reader { coarseness, hint: coarseness_in(now) };
                    return true;
                }
                // Another reader came, or a writer.
                now = before;
            }
            if now & CLOSED == 0 {
                return false;
            }
            coarseness = coarseness_in(now).max(coarseness + 1);
        }
    }

    /// Writes if no process has the lock or waits for it.
    pub async fn try_acquire_write(&self, rma: &impl Rma) -> bool {
        let branch = self.branch(rma);
        if !branch.try_climb(rma).await {
            return false;
        }
        let tally = self.tuner.tally(rma, self.tuning()).await;
        let coarseness = tally.setting.coarseness;
        let mut readers = 0;
        for (marked, counter) in self.open(coarseness).enumerate() {
            let Some(gone) = self.mark_if_empty(rma, counter).await else {
                self.take_marks_away(rma, self.open(coarseness).take(marked)).await;
                if let Some(successor) = branch.root().leave(rma).await {
                    branch.root().pass(rma, successor, MODE_CHANGE).await;
                }
                branch.leave(rma, 2).await;
                return false;
            };
            readers += gone;
        }
        let turn = self.tuner.begin(rma, self.tuning(), tally, readers).await;
        rma.flush(self.tuning().0).await;
        branch.root().put_status(rma, turn.status()).await;
        branch::begin(&branch, rma, Climbed { level: 1, turn }).await;
        true
    }

    /// Marks a counter if all readers that have come have gone, and returns how many those are.
    async fn mark_if_empty(&self, rma: &impl Rma, counter: Rank) -> Option<u64> {
        let arrive = self.layout.arrive();
        let arrived = rma.get(counter, arrive).await;
        let gone = rma.get(counter, self.layout.depart()).await;
        let is_marked = arrived & COUNT == gone
            && rma.compare_and_swap(arrived | WRITE, arrived, counter, arrive).await == arrived;
        is_marked.then_some(gone)
    }

    /// Takes the marks of these counters away and begins a new phase there. Only the process that has marked
    /// them while they had no readers does this, so no reader goes meanwhile.
    async fn take_marks_away(&self, rma: &impl Rma, counters: impl Iterator<Item = Rank>) {
        for counter in counters {
            let arrived = rma.get(counter, self.layout.arrive()).await;
            rma.add(phase_after(arrived).wrapping_sub(WRITE), counter, self.layout.arrive()).await;
            rma.flush(counter).await;
        }
    }
}
