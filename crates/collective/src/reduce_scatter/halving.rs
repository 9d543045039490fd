//! Reduce-scatter by recursive halving: ⌈log₂ n⌉ rounds, each with half as much data as the one before, for
//! operators that commute (Thakur, Rabenseifner, Gropp 2005, section 4.3).

use super::vector::Vector;
use crate::basic::{Accumulator, Pieces, Side};
use crate::conversation::Conversation;
use crate::data::Reduction;
use crate::ranks::{Fold, Role};
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce_scatter(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    vector: Vector<'_>,
) -> Result<()> {
    let (fold, rank, count) = (Fold::new(talk.size()), talk.rank(), vector.count());
    let (new_rank, absorbs) = match fold.role(rank) {
        Role::Leaves(to) => {
            talk.send(to, vector.operands.buffer(count));
            talk.receive(to, vector.block(vector.destination, rank));
            return Ok(());
        }
        Role::Stays { new_rank, absorbs } => (new_rank, absorbs),
    };
    let (own, spare) = (talk.vector(reduction, count)?, talk.vector(reduction, count)?);
    let mut all = Accumulator { reduction, result: own, spare, count };
    talk.copy(&vector.operands.buffer(count), &all.result.buffer(count));
    if let Some(other) = absorbs {
        all.receive(talk, other, Side::Higher);
    }
    // A piece for each rank that stays: its block, and that of the rank it stands for.
    let mut starts: Vec<i64> =
        (0..fold.kept()).map(|new_rank| vector.starts[fold.rank_of(new_rank)]).collect();
    starts.push(count);
    Pieces { starts: &starts, new_rank }.reduce_scatter(talk, &all, |new_rank| fold.rank_of(new_rank));
    for whose in fold.ranks_of(new_rank) {
        let block = vector.block(all.result.at(vector.starts[whose]), whose);
        if whose == rank {
            talk.copy(&block, &vector.block(vector.destination, rank));
        } else {
            talk.send(whose, block);
        }
    }
    Ok(())
}
