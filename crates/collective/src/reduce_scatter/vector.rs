//! The vector that a reduce-scatter works on.

use crate::data::Elements;
use heddle_message::buffer::Buffer;

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

    /// The operands for `rank`.
    pub(super) fn operands_of(&self, rank: usize) -> Elements<'a> {
        self.operands.at(self.starts[rank])
    }
}
