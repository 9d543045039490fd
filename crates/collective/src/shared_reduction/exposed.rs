//! Reductions of exposed vectors: no vector is copied to the blackboard. A rank copies the operands of the
//! others from their memory, a little at a time, and computes with them.

use super::fold_all::FoldFrom;
use super::own::OwnOperands;
use super::pieces::Piece;
use crate::basic::Offer;
use crate::blackboard::Source;
use crate::conversation::{Conversation, OnBlackboard};
use crate::data::{Elements, Part, Reduction};
use heddle_comm::error::Result;

/// The bytes that are copied at once: they and the result stay in a core's second cache. Each copy is a
/// system call, so less would be slower.
const AT_ONCE: usize = 128 << 10;

/// The vectors that all ranks expose in round 0.
#[derive(Debug)]
pub(crate) struct ExposedVectors<'a> {
    /// The bytes of a vector, and of an element.
    whole: usize,
    size: usize,
    own: OwnOperands<'a>,
    offer: Offer,
    from: FoldFrom<'a>,
    at_once: i64,
}

impl<'a> ExposedVectors<'a> {
    /// This rank's operands, for a result.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        operands: Part<'a>,
        result: Elements<'_>,
    ) -> Result<ExposedVectors<'a>> {
        let size = reduction.datatype().size() as usize;
        let at_once = (AT_ONCE / size.max(1)).max(1) as i64;
        let own = OwnOperands::new(talk, reduction, (operands.elements, result), at_once)?;
        let offer = Offer::exposed(talk, (0, operands.buffer()), None)?;
        let from = FoldFrom::exposed(talk, reduction, at_once)?;
        Ok(ExposedVectors { whole: operands.len(), size, own, offer, from, at_once })
    }

    /// Exposes this rank's vector.
    pub(crate) fn publish(&self, talk: &mut OnBlackboard<'_, '_>) {
        self.offer.publish(talk);
    }

    /// The result becomes a piece of what all ranks have together.
    pub(crate) fn compute(&self, talk: &mut OnBlackboard<'_, '_>, piece: Piece, result: Elements<'_>) {
        for done in (0..piece.count).step_by(self.at_once as usize) {
            let (first, count) = (piece.first + done, self.at_once.min(piece.count - done));
            let source =
                |rank| Source { round: 0, rank, whole: self.whole, offset: first as usize * self.size };
            self.own.fold_with_others(talk, &self.from, source, first, (result.at(done), count));
        }
    }

    /// Waits until nobody reads this rank's vector any more.
    pub(crate) fn take_back(self, talk: &mut OnBlackboard<'_, '_>) {
        self.offer.take_back(talk);
    }
}
