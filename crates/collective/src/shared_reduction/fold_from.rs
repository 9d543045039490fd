//! Computing with the vectors that ranks have published.

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

    /// The result becomes what all vectors of `count` elements give together that were published whole in a
    /// round, on all ranks in the same order: floating-point numbers are the same everywhere then. `own` is
    /// what this rank has published.
    #[inline(always)]
    pub(crate) fn fold_all(
        &self,
        talk: &mut OnBlackboard<'_, '_>,
        source: impl Fn(usize) -> Source,
        (own, result): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        let (rank, last) = (talk.rank(), talk.size() - 1);
        // Which of the first two comes first makes no difference to an operator that commutes.
        let own_comes_first = rank == last || self.reduction.commutes() && rank + 1 == last;
        let mut operands = own;
        if !own_comes_first {
            talk.fetch(source(last), result.buffer(count));
            operands = result;
        }
        let first = if own_comes_first { rank } else { last };
        for other in (0..=last).rev().filter(|&other| other != first) {
            self.fold(talk, source(other), (operands, result), count);
            operands = result;
        }
    }
}
