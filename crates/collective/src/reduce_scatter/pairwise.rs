//! Reduce-scatter where every rank sends each other one its block of operands: n − 1 rounds, and no more data
//! than must move (Thakur, Rabenseifner, Gropp 2005, section 4.3).
//!
//! Operands for this rank arrive from rank − 1, rank − 2 … 0, then from n − 1 … rank + 1. So those of
//! lower ranks are put in front of what there is one by one, and those of higher ranks likewise form a
//! second result, which goes behind the first: the order of operands is that of ranks, and the
//! operator need not commute.

use super::vector::Vector;
use crate::basic::{Accumulator, Side};
use crate::conversation::Conversation;
use crate::data::Reduction;
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce_scatter(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    vector: Vector<'_>,
) -> Result<()> {
    let (rank, size) = (talk.rank(), talk.size());
    let count = vector.count_of(rank);
    let [low, high, spare] =
        [talk.vector(reduction, count)?, talk.vector(reduction, count)?, talk.vector(reduction, count)?];
    let mut lower = Accumulator { reduction, result: low, spare, count };
    let mut higher = Accumulator { result: high, ..lower };
    talk.copy(&vector.block(vector.operands_of(rank), rank), &lower.result.buffer(count));
    for distance in 1..size {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let outgoing = (to, vector.block(vector.operands_of(to), to));
        let first_of_higher = from == size - 1;
        let vector = if from < rank { &mut lower } else { &mut higher };
        let room = if first_of_higher { vector.result } else { vector.spare };
        talk.exchange(outgoing, (from, room.buffer(count)));
        if !first_of_higher {
            vector.take(talk, Side::Lower);
        }
    }
    if rank != size - 1 {
        lower.spare = higher.result;
        lower.take(talk, Side::Higher);
    }
    lower.deliver(talk, vector.destination);
    Ok(())
}
