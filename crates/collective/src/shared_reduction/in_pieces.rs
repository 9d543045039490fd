//! A long vector whose chunks the ranks compute together: of each chunk every rank computes a piece.

use super::fold_from::FoldFrom;
use super::own::OwnOperands;
use super::pieces::{Chunks, Piece, TwoRounds, of_others};
use crate::conversation::{Conversation, OnBlackboard};
use crate::data::{Elements, Part, Reduction};
use heddle_comm::error::Result;

/// This rank's operands, and what it needs to compute its pieces.
#[derive(Debug)]
pub(crate) struct InPieces<'a> {
    chunks: Chunks,
    rounds: TwoRounds,
    operands: Elements<'a>,
    own: OwnOperands<'a>,
    from: FoldFrom<'a>,
}

impl<'a> InPieces<'a> {
    /// For operands whose pieces are computed in the memory of `result`.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        reduction: &'a Reduction<'a>,
        operands: Part<'a>,
        result: Elements<'_>,
        chunks: Chunks,
    ) -> Result<InPieces<'a>> {
        let longest = chunks.longest_piece(talk.size());
        let own = OwnOperands::new(talk, reduction, (operands.elements, result), longest)?;
        let from = FoldFrom::new(talk, reduction, longest)?;
        Ok(InPieces { chunks, rounds: TwoRounds::of(chunks), operands: operands.elements, own, from })
    }

    /// Carries the reduction out. This rank computes its piece of each chunk where `place` says, then
    /// `deliver` may publish the piece in a round, and `collect` copies the pieces of other ranks from it.
    pub(crate) fn reduce<'r>(
        &self,
        talk: &mut Conversation<'_>,
        place: impl Fn(Piece) -> Elements<'r>,
        deliver: impl Fn(&mut OnBlackboard<'_, '_>, Piece, u32),
        collect: impl Fn(&mut OnBlackboard<'_, '_>, &[Piece], u32),
    ) {
        let (size, rank, rounds) = (talk.size(), talk.rank(), self.rounds);
        let pieces_of = |chunk| self.chunks.pieces(chunk, size);
        let talk = &mut talk.take_rounds(rounds.total());
        rounds.go_through(
            talk,
            |talk, chunk| {
                let needed = of_others(&pieces_of(chunk), rank);
                let data = self.operands.at(needed.first).buffer(needed.count);
                talk.publish(rounds.operands(chunk), data, None);
            },
            |talk, chunk| {
                let (pieces, round) = (pieces_of(chunk), rounds.operands(chunk));
                let piece = pieces[rank];
                let source = |from| piece.among(of_others(&pieces, from), round, from);
                let result = (place(piece), piece.count);
                self.own.fold_with_others(talk, &self.from, source, piece.first, result);
                talk.finish_round(round);
                deliver(talk, piece, rounds.result(chunk));
            },
            |talk, chunk| {
                collect(talk, &pieces_of(chunk), rounds.result(chunk));
                talk.finish_round(rounds.result(chunk));
            },
        );
    }
}
