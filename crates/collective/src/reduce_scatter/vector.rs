//! The vector that a reduce-scatter works on.

use crate::conversation::Conversation;
use crate::data::{Elements, Reduction};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use std::ops::Range;

/// The vector of all ranks' blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<'a> {
    pub(super) operands: Elements<'a>,
    /// Receives the result, which is this rank's block alone. It may be the memory of the operands.
    pub(super) destination: Elements<'a>,
    /// The first element of each rank's block, and the end.
    pub(super) starts: &'a [i64],
}

impl<'a> Vector<'a> {
    pub(super) fn count(&self) -> i64 {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(super) fn count_of(&self, rank: usize) -> i64 {
        self.starts[rank + 1] - self.starts[rank]
    }

    /// The block of `rank`, if it begins at `elements`.
    pub(super) fn block(&self, elements: Elements<'_>, rank: usize) -> Buffer {
        elements.buffer(self.count_of(rank))
    }

    /// The elements of the blocks of some ranks.
    pub(super) fn elements_of(&self, ranks: Range<usize>) -> Range<i64> {
        self.starts[ranks.start]..self.starts[ranks.end]
    }

    /// Where a rank computes its block of the result: not where operands are, which others may need.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn room(
        &self,
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        rank: usize,
    ) -> Result<Elements<'a>> {
        let is_in_place = self.operands.address() == self.destination.address();
        if is_in_place { talk.vector(reduction, self.count_of(rank)) } else { Ok(self.destination) }
    }

    /// Brings the result of a rank from where it was computed.
    pub(super) fn deliver(&self, talk: &mut Conversation<'_>, result: Elements<'_>, rank: usize) {
        if result.address() != self.destination.address() {
            talk.copy(&self.block(result, rank), &self.block(self.destination, rank));
        }
    }

    /// The operands for `rank`.
    pub(super) fn operands_of(&self, rank: usize) -> Elements<'a> {
        self.operands.at(self.starts[rank])
    }
}
