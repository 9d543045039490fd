//! Reduce-scatter on the blackboard: each rank publishes its vector, and computes its own block of the result
//! from those of all. Of long vectors it publishes the blocks one after the other, in parts, each for
//! the rank that computes it; but in chunks for all, if the order of operands matters.

use super::vector::Vector;
use crate::basic::publish_and_read;
use crate::conversation::Conversation;
use crate::data::Reduction;
use crate::ranks::published;
use crate::shared_reduction::{Chunks, FoldFrom, OwnOperands};
use heddle_blackboard::Limits;
use heddle_comm::error::Result;

/// Returns false if the vector is too long for it; then nothing has happened.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce_scatter(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    vector: Vector<'_>,
    limits: Limits,
) -> Result<bool> {
    let size = reduction.datatype().size() as usize;
    if vector.count() as usize * size > limits.bytes && reduction.commutes() {
        return block_by_block(talk, reduction, vector, limits);
    }
    let Some(chunks) = Chunks::new(vector.count(), size, limits) else {
        return Ok(false);
    };
    in_chunks(talk, reduction, vector, chunks)?;
    Ok(true)
}

/// Of each chunk a rank publishes what the others need.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
fn in_chunks(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    vector: Vector<'_>,
    chunks: Chunks,
) -> Result<()> {
    let (rank, size) = (talk.rank(), talk.size());
    let block = vector.elements_of(rank..rank + 1);
    let longest = chunks.chunk(0).count.min(vector.count_of(rank));
    let result = vector.room(talk, reduction, rank)?;
    let from = FoldFrom::new(talk, reduction, longest)?;
    let own = OwnOperands::new(talk, reduction, (vector.operands, result), longest)?;
    let needed_from = |rank, round| chunks.part_of(round, vector.elements_of(published(rank, size)));
    let talk = &mut talk.take_rounds(chunks.number());
    for round in 0..chunks.number() {
        if let Some(needed) = needed_from(rank, round) {
            talk.publish(round, vector.operands.at(needed.first).buffer(needed.count), None);
        }
        if let Some(piece) = chunks.part_of(round, block.clone()) {
            // Each other rank publishes the piece, among others of this chunk.
            let source = |rank| piece.among(needed_from(rank, round).unwrap_or(piece), round, rank);
            let to = result.at(piece.first - block.start);
            own.fold_with_others(talk, &from, source, piece.first, (to, piece.count));
        }
        talk.finish_round(round);
    }
    vector.deliver(talk, result, rank);
    Ok(())
}

/// The rounds go through the parts of a block, and for each part through the distances of the ranks.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
fn block_by_block(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    vector: Vector<'_>,
    limits: Limits,
) -> Result<bool> {
    let (rank, size) = (talk.rank(), talk.size());
    let chunks_of = |rank| Chunks::new(vector.count_of(rank), reduction.datatype().size() as usize, limits);
    let Some(longest) = (0..size).map(|rank| vector.count_of(rank)).max() else { return Ok(false) };
    let Some(chunks) = Chunks::new(longest, reduction.datatype().size() as usize, limits) else {
        return Ok(false);
    };
    let result = vector.room(talk, reduction, rank)?;
    let from = FoldFrom::new(talk, reduction, chunks.chunk(0).count)?;
    let distances = (size - 1) as u32;
    let rounds = distances * chunks.number();
    let place = |round: u32| ((round % distances) as usize + 1, round / distances);
    // The part of a rank's block: some may be shorter than others.
    let part =
        |rank, number| chunks_of(rank).and_then(|chunks| chunks.part_of(number, 0..vector.count_of(rank)));
    let talk = &mut talk.take_rounds(rounds);
    publish_and_read(
        talk,
        rounds,
        |talk, round| {
            let (distance, number) = place(round);
            let to = (rank + distance) % size;
            if let Some(part) = part(to, number) {
                let data = vector.operands.at(vector.starts[to] + part.first).buffer(part.count);
                talk.publish(round, data, Some(to));
            }
        },
        |talk, round| {
            let (distance, number) = place(round);
            let Some(part) = part(rank, number) else { return };
            let result = result.at(part.first);
            let own = vector.operands.at(vector.starts[rank] + part.first);
            let operands = if distance == 1 { own } else { result };
            let source = part.source(round, (rank + size - distance) % size);
            from.fold(talk, source, (operands, result), part.count);
        },
    );
    vector.deliver(talk, result, rank);
    Ok(true)
}
