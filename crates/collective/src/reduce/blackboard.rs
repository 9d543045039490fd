//! Reduce on the blackboard. Short vectors all but the root publish, and the root computes with them, so
//! nobody else waits. Longer ones go in chunks; with several ranks each computes a piece of every chunk, and
//! publishes that for the root.

use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::elements::{Elements, Part};
use crate::reduction::Reduction;
use crate::shared_reduction::{Chunks, FoldFrom, fold_all};
use crate::switch_points::REDUCE_PIECES_BYTES;
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
    let Some(chunks) = Chunks::new(operands.count, reduction.datatype().size() as usize, limits) else {
        return Ok(false);
    };
    if talk.size() == 2 || operands.len() * talk.size() <= REDUCE_PIECES_BYTES {
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
    let first = chunks.chunk(0);
    let from = FoldFrom::new(talk, reduction, first.count)?;
    let is_in_place = operands.elements.address() == result.address();
    let last = talk.size() - 1;
    // Operands in place are overwritten by those of the last rank, unless the order does not matter.
    let begins_with_own = root == last || reduction.commutes();
    let copy =
        if is_in_place && !begins_with_own { Some(talk.vector(reduction, first.count)?) } else { None };
    talk.take_rounds(chunks.number());
    for number in 0..chunks.number() {
        let chunk = chunks.chunk(number);
        let source = |rank| Source { round: number, rank, whole: chunk.len, offset: 0 };
        let (own, result) = (operands.elements.at(chunk.first), result.at(chunk.first));
        let own = match copy {
            Some(copy) => {
                talk.copy(&own.buffer(chunk.count), &copy.buffer(chunk.count));
                copy
            }
            None => own,
        };
        if !begins_with_own {
            talk.fetch(source(last), result.buffer(chunk.count));
        } else if !is_in_place {
            talk.copy(&own.buffer(chunk.count), &result.buffer(chunk.count));
        }
        let others = if begins_with_own { talk.size() } else { last };
        for rank in (0..others).rev() {
            if rank != root {
                from.fold(talk, source(rank), result, chunk.count);
            } else if !begins_with_own {
                talk.combine(reduction, (own, result), chunk.count);
            }
        }
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
    let (size, rank) = (talk.size(), talk.rank());
    let longest_piece = chunks.pieces(0, size)[0].count;
    let from = FoldFrom::new(talk, reduction, longest_piece)?;
    let computed = if destination.is_none() { Some(talk.vector(reduction, longest_piece)?) } else { None };
    talk.take_rounds(2 * chunks.number());
    let publish = |talk: &mut Conversation<'_>, number: u32| {
        let chunk = chunks.chunk(number);
        talk.publish(2 * number, operands.elements.at(chunk.first).buffer(chunk.count), None);
    };
    publish(talk, 0);
    for number in 0..chunks.number() {
        let pieces = chunks.pieces(number, size);
        let (own, round) = (pieces[rank], 2 * number + 1);
        let piece = match (computed, destination) {
            (Some(computed), _) => computed,
            (None, Some(result)) => result.at(own.first),
            (None, None) => unreachable!("without a destination there is room for the piece"),
        };
        fold_all(talk, &from, 2 * number, own, chunks.chunk(number).len, piece);
        talk.finish_round(2 * number);
        // The others compute with the next chunk meanwhile.
        if number + 1 < chunks.number() {
            publish(talk, number + 1);
        }
        match destination {
            None => talk.publish(round, piece.buffer(own.count), Some(root)),
            Some(result) => {
                for (of, piece) in pieces.iter().enumerate().filter(|(of, _)| *of != root) {
                    talk.fetch(piece.source(round, of), result.at(piece.first).buffer(piece.count));
                }
            }
        }
        talk.finish_round(round);
    }
    Ok(())
}
