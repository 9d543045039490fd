//! Reduce on the blackboard. Short vectors all but the root publish, and the root computes with them, so
//! nobody else waits. Longer ones go in chunks; with several ranks each computes a piece of every chunk, and
//! publishes that for the root. Of vectors that are exposed each rank computes a piece as well.

use crate::blackboard::Source;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::elements::{Elements, Part};
use crate::offer::Offer;
use crate::reduction::Reduction;
use crate::shared_reduction::{Chunks, ExposedVectors, FoldFrom, OwnOperands, TwoRounds, of_others};
use heddle_comm::blackboard::Limits;
use heddle_comm::error::Result;

/// `destination`: where the root wants the result. Returns false if the vector is too long for it; then
/// nothing has happened.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    (root, limits): (usize, Limits),
) -> Result<bool> {
    if limits.exposes_only() && talk.size() > 2 && operands.len() >= choices().reduce_exposed_bytes {
        exposed(talk, reduction, operands, destination, (root, limits))?;
        return Ok(true);
    }
    let Some(chunks) = Chunks::new(operands.count, reduction.datatype().size() as usize, limits) else {
        return Ok(false);
    };
    if talk.size() == 2 || operands.len() * talk.size() <= choices().reduce_pieces_bytes {
        whole(talk, reduction, operands, destination, (root, chunks))?;
    } else {
        in_pieces(talk, reduction, operands, destination, (root, chunks))?;
    }
    Ok(true)
}

/// The root computes alone.
fn whole(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    (root, chunks): (usize, Chunks),
) -> Result<()> {
    let Some(result) = destination else {
        talk.take_rounds(chunks.number());
        for number in 0..chunks.number() {
            let chunk = chunks.chunk(number);
            talk.publish(number, operands.elements.at(chunk.first).buffer(chunk.count), Some(root));
            talk.finish_round(number);
        }
        return Ok(());
    };
    let longest = chunks.chunk(0).count;
    let from = FoldFrom::new(talk, reduction, longest)?;
    let own = OwnOperands::new(talk, reduction, (operands.elements, result), longest)?;
    talk.take_rounds(chunks.number());
    for number in 0..chunks.number() {
        let chunk = chunks.chunk(number);
        let source = |rank| Source { round: number, rank, whole: chunk.len, offset: 0 };
        own.fold_with_others(talk, &from, source, chunk.first, (result.at(chunk.first), chunk.count));
        talk.finish_round(number);
    }
    Ok(())
}

/// All compute.
fn in_pieces(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    (root, chunks): (usize, Chunks),
) -> Result<()> {
    let (size, rank, rounds) = (talk.size(), talk.rank(), TwoRounds::of(chunks));
    let longest = chunks.pieces(0, size)[0].count;
    // What a rank other than the root computes is published at once.
    let computed = talk.vector_in(destination, reduction, longest)?;
    let at = |first| if destination.is_some() { computed.at(first) } else { computed };
    let own = OwnOperands::new(talk, reduction, (operands.elements, computed), longest)?;
    let from = FoldFrom::new(talk, reduction, longest)?;
    talk.take_rounds(rounds.total());
    rounds.go_through(
        talk,
        |talk, chunk| {
            let needed = of_others(&chunks.pieces(chunk, size), rank);
            let data = operands.elements.at(needed.first).buffer(needed.count);
            talk.publish(rounds.operands(chunk), data, None);
        },
        |talk, chunk| {
            let (pieces, round) = (chunks.pieces(chunk, size), rounds.operands(chunk));
            let piece = pieces[rank];
            let source = |from| piece.among(of_others(&pieces, from), round, from);
            own.fold_with_others(talk, &from, source, piece.first, (at(piece.first), piece.count));
            talk.finish_round(round);
            if destination.is_none() {
                talk.publish(rounds.result(chunk), computed.buffer(piece.count), Some(root));
            }
        },
        |talk, chunk| {
            let (pieces, round) = (chunks.pieces(chunk, size), rounds.result(chunk));
            if let Some(result) = destination {
                for (of, piece) in pieces.iter().enumerate().filter(|(of, _)| *of != root) {
                    talk.fetch(piece.source(round, of), result.at(piece.first).buffer(piece.count));
                }
            }
            talk.finish_round(round);
        },
    );
    Ok(())
}

/// All compute from the exposed vectors.
fn exposed(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    (root, limits): (usize, Limits),
) -> Result<()> {
    let rank = talk.rank();
    let chunks = Chunks::one(operands.count, reduction.datatype().size() as usize);
    let pieces = chunks.pieces(0, talk.size());
    let own = pieces[rank];
    let Some(result) = destination else {
        let piece = talk.vector(reduction, own.count)?;
        let vectors = ExposedVectors::new(talk, reduction, operands, piece)?;
        let offer = Offer::new(talk, (1, piece.buffer(own.count)), Some(root), limits)?;
        talk.take_rounds(2);
        vectors.publish(talk);
        vectors.compute(talk, own, piece);
        talk.finish_round(0);
        offer.publish(talk);
        talk.finish_round(1);
        vectors.take_back(talk);
        offer.take_back(talk);
        return Ok(());
    };
    let vectors = ExposedVectors::new(talk, reduction, operands, result)?;
    talk.take_rounds(2);
    vectors.publish(talk);
    vectors.compute(talk, own, result.at(own.first));
    talk.finish_round(0);
    // A rank that offers its piece reads no operands any more. In place only that rank reads those which its
    // piece replaces.
    for from in talk.others() {
        let piece = pieces[from];
        talk.fetch(piece.source(1, from), result.at(piece.first).buffer(piece.count));
    }
    talk.finish_round(1);
    Ok(())
}
