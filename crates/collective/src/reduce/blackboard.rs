//! Reduce on the blackboard. Short vectors all but the root publish, and the root computes with them, so
//! nobody else waits. Longer ones go in chunks; with several ranks each computes a piece of every chunk, and
//! publishes that for the root.

use crate::blackboard::Source;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::data::{Elements, Part, Reduction};
use crate::shared_reduction::{Chunks, FoldFrom, InPieces, OwnOperands};
use heddle_blackboard::Limits;
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
    let chunks = |limits| Chunks::new(operands.count, reduction.datatype().size() as usize, limits);
    let is_of_two = talk.size() == 2;
    // Of two ranks one waits for the other. An element may be longer than a part.
    let in_parts = is_of_two.then(|| chunks(limits.pipelined(operands.len()))).flatten();
    let Some(chunks) = in_parts.or_else(|| chunks(limits)) else {
        return Ok(false);
    };
    if is_of_two || operands.len() * talk.size() <= choices().reduce_pieces_bytes {
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
        let talk = &mut talk.take_rounds(chunks.number());
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
    let talk = &mut talk.take_rounds(chunks.number());
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
    // The other ranks publish each piece at once, so they need room for one.
    let computed = talk.vector_in(destination, reduction, chunks.longest_piece(talk.size()))?;
    InPieces::new(talk, reduction, operands, computed, chunks)?.reduce(
        talk,
        |piece| if destination.is_some() { computed.at(piece.first) } else { computed },
        |talk, piece, round| {
            if destination.is_none() {
                talk.publish(round, computed.buffer(piece.count), Some(root));
            }
        },
        |talk, pieces, round| {
            let Some(result) = destination else { return };
            for (of, piece) in pieces.iter().enumerate().filter(|(of, _)| *of != root) {
                talk.fetch(piece.source(round, of), result.at(piece.first).buffer(piece.count));
            }
        },
    );
    Ok(())
}
