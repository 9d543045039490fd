//! Reduce-scatter on the blackboard: each rank publishes its vector, in chunks if it is long, and computes
//! its own block of the result from those of all. Very long vectors are exposed instead.

use super::vector::Vector;
use crate::choices::choices;
use crate::conversation::Conversation;
use crate::elements::Part;
use crate::reduction::Reduction;
use crate::shared_reduction::{Chunks, ExposedVectors, FoldFrom, fold_all};
use heddle_comm::blackboard::Limits;
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
    if bytes >= choices().reduce_scatter_exposed_bytes && limits.exposed.is_some() {
        exposed(talk, reduction, vector)?;
        return Ok(true);
    }
    let Some(chunks) = Chunks::new(vector.count(), size, limits) else {
        return Ok(false);
    };
    let first = vector.starts[rank];
    let longest = chunks.chunk(0).count.min(vector.count_of(rank));
    let from = FoldFrom::new(talk, reduction, longest)?;
    talk.take_rounds(chunks.number());
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

fn exposed(talk: &mut Conversation<'_>, reduction: &Reduction<'_>, vector: Vector<'_>) -> Result<()> {
    let rank = talk.rank();
    let (first, count) = (vector.starts[rank], vector.count_of(rank));
    let operands = Part { elements: vector.operands, count: vector.count() };
    let is_in_place = vector.operands.address() == vector.destination.address();
    // In place others read the operands that the result replaces.
    let result = if is_in_place { talk.vector(reduction, count)? } else { vector.destination };
    let vectors = ExposedVectors::new(talk, reduction, operands, result)?;
    let block = Chunks::one(operands.count, reduction.datatype().size() as usize);
    talk.take_rounds(1);
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
