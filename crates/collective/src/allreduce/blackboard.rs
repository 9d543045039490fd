//! Allreduce on the blackboard. The vector of a few numbers each rank publishes, and computes with those of
//! all. A longer one goes in chunks; of each chunk every rank computes a piece, and publishes that. Long
//! vectors of persistent operations are exposed: every rank computes a piece of them as well, and offers it.

use crate::basic::Offer;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::data::{Elements, Part, Reduction};
use crate::shared_reduction::{Chunks, ExposedVectors, FoldFrom, InPieces, fold_all};
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
    let (size, choices) = (talk.size(), choices());
    if limits.exposes_only() && operands.len() >= choices.allreduce_exposed_bytes {
        exposed(talk, reduction, operands, result, limits)?;
        return Ok(true);
    }
    let Some(chunks) = Chunks::new(operands.count, reduction.datatype().size() as usize, limits) else {
        return Ok(false);
    };
    if chunks.number() == 1 && operands.len() * size <= choices.allreduce_pieces_bytes {
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
    let fold = FoldFrom::new(talk, reduction, chunks.chunk(0).count)?;
    let talk = &mut talk.take_rounds(chunks.number());
    for number in 0..chunks.number() {
        let chunk = chunks.chunk(number);
        talk.publish(number, operands.elements.at(chunk.first).buffer(chunk.count), None);
        fold_all(talk, &fold, number, chunk, chunk.len, result.at(chunk.first));
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

/// Each rank computes a piece from the exposed vectors.
fn exposed(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    result: Elements<'_>,
    limits: Limits,
) -> Result<()> {
    let rank = talk.rank();
    let chunks = Chunks::one(operands.count, reduction.datatype().size() as usize);
    let pieces = chunks.pieces(0, talk.size());
    let own = pieces[rank];
    let vectors = ExposedVectors::new(talk, reduction, operands, result)?;
    let offer = Offer::new(talk, (1, result.at(own.first).buffer(own.count)), None, limits)?;
    let talk = &mut talk.take_rounds(2);
    vectors.publish(talk);
    vectors.compute(talk, own, result.at(own.first));
    talk.finish_round(0);
    offer.publish(talk);
    // A rank that offers its piece reads no operands any more. In place only that rank reads those which its
    // piece replaces.
    for from in talk.others() {
        let piece = pieces[from];
        talk.fetch(piece.source(1, from), result.at(piece.first).buffer(piece.count));
    }
    talk.finish_round(1);
    offer.take_back(talk);
    Ok(())
}
