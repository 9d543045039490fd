//! Allreduce on the blackboard. The vector of a few numbers each rank publishes, and computes with those of
//! all. A longer one goes in chunks; of each chunk every rank computes a piece, and publishes that.

use crate::blackboard::Source;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::data::{Elements, Part, Reduction};
use crate::shared_reduction::{Chunks, FoldFrom, InPieces};
use heddle_blackboard::Limits;
use heddle_comm::error::Result;

/// Returns false if the vector is too long for it; then nothing has happened.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn allreduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    result: Elements<'_>,
    limits: Limits,
) -> Result<bool> {
    let Some(chunks) = Chunks::new(operands.count, reduction.datatype().size() as usize, limits) else {
        return Ok(false);
    };
    if chunks.number() == 1 && operands.len() * talk.size() <= choices().allreduce_pieces_bytes {
        whole(talk, reduction, operands, result, chunks)?;
    } else {
        in_pieces(talk, reduction, operands, result, chunks)?;
    }
    Ok(true)
}

/// Each rank computes all.
fn whole(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    result: Elements<'_>,
    chunks: Chunks,
) -> Result<()> {
    let from = FoldFrom::new(talk, reduction, chunks.chunk(0).count)?;
    let talk = &mut talk.take_rounds(chunks.number());
    for number in 0..chunks.number() {
        let chunk = chunks.chunk(number);
        let own = operands.elements.at(chunk.first);
        let source = |rank| Source { round: number, rank, whole: chunk.len, offset: 0 };
        talk.publish(number, own.buffer(chunk.count), None);
        from.fold_all(talk, source, (own, result.at(chunk.first)), chunk.count);
        talk.finish_round(number);
    }
    Ok(())
}

/// Each rank computes a piece of every chunk.
fn in_pieces(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    result: Elements<'_>,
    chunks: Chunks,
) -> Result<()> {
    InPieces::new(talk, reduction, operands, result, chunks)?.reduce(
        talk,
        |piece| result.at(piece.first),
        |talk, piece, round| talk.publish(round, result.at(piece.first).buffer(piece.count), None),
        |talk, pieces, round| {
            for from in talk.others() {
                let piece = pieces[from];
                talk.fetch(piece.source(round, from), result.at(piece.first).buffer(piece.count));
            }
        },
    );
    Ok(())
}
