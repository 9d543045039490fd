//! Computing with the published vectors of all ranks, from the last one down, so that the order of operands
//! is that of ranks.

use super::pieces::Piece;
use crate::blackboard::Source;
use crate::conversation::{Conversation, OnBlackboard};
use crate::data::{Elements, Reduction};
use heddle_comm::error::Result;

/// How published vectors are read by an operator.
#[derive(Debug)]
pub(crate) struct FoldFrom<'a> {
    reduction: &'a Reduction<'a>,
    /// If the operator cannot read a vector where it is: room for a copy.
    room: Option<Elements<'a>>,
}

impl<'a> FoldFrom<'a> {
    /// For vectors of at most `count` elements, which are copied if their datatype has gaps.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        count: i64,
    ) -> Result<FoldFrom<'a>> {
        let has_gaps = !reduction.datatype().is_contiguous();
        let room = has_gaps.then(|| talk.vector(reduction, count)).transpose()?;
        Ok(FoldFrom { reduction, room })
    }

    /// For exposed vectors, of which at most `count` elements are copied at a time.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn exposed(
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        count: i64,
    ) -> Result<FoldFrom<'a>> {
        Ok(FoldFrom { reduction, room: Some(talk.vector(reduction, count)?) })
    }

    /// Computes `result = published OP operands` on `count` elements.
    #[inline(always)]
    pub(crate) fn fold(
        &self,
        talk: &mut OnBlackboard<'_, '_>,
        source: Source,
        (operands, result): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        match self.room {
            None => talk.fold(self.reduction, source, (operands, result), count),
            Some(room) => {
                if operands.address() != result.address() {
                    talk.copy(&operands.buffer(count), &result.buffer(count));
                }
                talk.fetch(source, room.buffer(count));
                talk.combine(self.reduction, (room, result), count);
            }
        }
    }
}

/// The result becomes the piece of all vectors that were published in a round, of `whole` bytes each.
#[inline(always)]
pub(crate) fn fold_all(
    talk: &mut OnBlackboard<'_, '_>,
    from: &FoldFrom<'_>,
    round: u32,
    piece: Piece,
    whole: usize,
    result: Elements<'_>,
) {
    let source = |rank| Source { round, rank, whole, offset: piece.offset };
    let last = talk.size() - 1;
    talk.fetch(source(last), result.buffer(piece.count));
    for rank in (0..last).rev() {
        from.fold(talk, source(rank), (result, result), piece.count);
    }
}
