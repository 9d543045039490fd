//! Reduce-scatter on the blackboard: each rank publishes its vector, in chunks if it is long, and computes
//! its own block of the result from those of all.

use super::vector::Vector;
use crate::conversation::Conversation;
use crate::reduction::Reduction;
use crate::shared_reduction::{Chunks, FoldFrom, fold_all};
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
    let Some(chunks) = Chunks::new(vector.count(), reduction.datatype().size() as usize, limits) else {
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
