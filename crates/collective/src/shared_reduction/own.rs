//! Computing with this rank's operands, which are not read from the blackboard, and those of all others, from
//! the last rank down, so that the order of operands is that of ranks.

use super::fold_from::FoldFrom;
use crate::blackboard::Source;
use crate::conversation::{Conversation, OnBlackboard};
use crate::data::{Elements, Reduction};
use heddle_comm::error::Result;

/// The operands of the rank that computes.
#[derive(Debug)]
pub(crate) struct OwnOperands<'a> {
    reduction: &'a Reduction<'a>,
    operands: Elements<'a>,
    /// The result is computed from them on: they are the last ones, or the order does not matter.
    come_first: bool,
    /// Room for a copy, if the result overwrites them before their turn.
    copy: Option<Elements<'a>>,
}

impl<'a> OwnOperands<'a> {
    /// Operands for a result, of which at most `count` elements are computed at a time.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        (operands, result): (Elements<'a>, Elements<'_>),
        count: i64,
    ) -> Result<OwnOperands<'a>> {
        let is_in_place = operands.address() == result.address();
        let come_first = talk.rank() == talk.size() - 1 || reduction.commutes();
        let needs_copy = is_in_place && !come_first;
        let copy = if needs_copy { Some(talk.vector(reduction, count)?) } else { None };
        Ok(OwnOperands { reduction, operands, come_first, copy })
    }

    /// Computes `count` elements of the result, from those from number `first` on of each rank.
    #[inline(always)]
    pub(crate) fn fold_with_others(
        &self,
        talk: &mut OnBlackboard<'_, '_>,
        from: &FoldFrom<'_>,
        source: impl Fn(usize) -> Source,
        first: i64,
        (result, count): (Elements<'_>, i64),
    ) {
        let (own_rank, last) = (talk.rank(), talk.size() - 1);
        let mut own = self.operands.at(first);
        if let Some(copy) = self.copy {
            talk.copy(&own.buffer(count), &copy.buffer(count));
            own = copy;
        }
        let (mut operands, mut others) = (own, last + 1);
        if !self.come_first {
            talk.fetch(source(last), result.buffer(count));
            (operands, others) = (result, last);
        }
        for rank in (0..others).rev() {
            if rank != own_rank {
                from.fold(talk, source(rank), (operands, result), count);
                operands = result;
            } else if !self.come_first {
                talk.combine(self.reduction, (own, result), count);
            }
        }
    }
}
