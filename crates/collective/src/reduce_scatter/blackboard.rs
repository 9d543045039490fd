//! Reduce-scatter on the blackboard: each rank publishes its vector, and computes its own block of the result
//! from those of all. Of long vectors it publishes the blocks one after the other, in parts, each for
//! the rank that computes it; but in chunks for all, if the order of operands matters. Persistent operations
//! expose long vectors.

use super::vector::Vector;
use crate::basic::publish_and_read;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::data::{Part, Reduction};
use crate::shared_reduction::{Chunks, ExposedVectors, FoldFrom, fold_all};
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
    let rank = talk.rank();
    let size = reduction.datatype().size() as usize;
    let bytes = vector.count() as usize * size;
    // Of two ranks each computes from half of the vector of the other: publishing it is no quicker.
    let exposes = limits.exposes_only() || talk.size() == 2 && limits.exposed.is_some();
    if exposes && bytes >= choices().reduce_scatter_exposed_bytes {
        exposed(talk, reduction, vector)?;
        return Ok(true);
    }
    if bytes > limits.bytes && limits.parts > 1 && reduction.commutes() {
        return block_by_block(talk, reduction, vector, limits);
    }
    let Some(chunks) = Chunks::new(vector.count(), size, limits) else {
        return Ok(false);
    };
    let first = vector.starts[rank];
    let longest = chunks.chunk(0).count.min(vector.count_of(rank));
    let from = FoldFrom::new(talk, reduction, longest)?;
    let talk = &mut talk.take_rounds(chunks.number());
    for round in 0..chunks.number() {
        let chunk = chunks.chunk(round);
        talk.publish(round, vector.operands.at(chunk.first).buffer(chunk.count), None);
        // In place the result overwrites no operands but those that are published.
        if let Some(piece) = chunks.part_of(round, first..first + vector.count_of(rank)) {
            let result = vector.destination.at(piece.first - first);
            fold_all(talk, &from, round, piece, chunk.len, result);
        }
        talk.finish_round(round);
    }
    Ok(true)
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
    let is_in_place = vector.operands.address() == vector.destination.address();
    let count = vector.count_of(rank);
    // In place the result would replace operands that are not published yet.
    let result = if is_in_place { talk.vector(reduction, count)? } else { vector.destination };
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
    if is_in_place {
        talk.copy(&result.buffer(count), &vector.destination.buffer(count));
    }
    Ok(true)
}

fn exposed(talk: &mut Conversation<'_>, reduction: &Reduction<'_>, vector: Vector<'_>) -> Result<()> {
    let rank = talk.rank();
    let (first, count) = (vector.starts[rank], vector.count_of(rank));
    let operands = Part { elements: vector.operands, count: vector.count() };
    let is_in_place = vector.operands.address() == vector.destination.address();
    // In place others read the operands that the result replaces.
    let result = if is_in_place { talk.vector(reduction, count)? } else { vector.destination };
    let vectors = ExposedVectors::new(talk, reduction, operands, result)?;
    let block = Chunks::one(operands.count, reduction.datatype().size() as usize);
    let talk = &mut talk.take_rounds(1);
    vectors.publish(talk);
    if let Some(block) = block.part_of(0, first..first + count) {
        vectors.compute(talk, block, result);
    }
    talk.finish_round(0);
    vectors.take_back(talk);
    if is_in_place {
        talk.copy(&result.buffer(count), &vector.destination.buffer(count));
    }
    Ok(())
}
