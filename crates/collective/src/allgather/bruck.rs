//! Allgather in ⌈log₂ n⌉ rounds for any number of ranks (Bruck, Ho, Kipnis, Upfal, Weathersby:
//! *Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems*, IEEE TPDS
//! 8(11), 1997, doi:10.1109/71.642949).
//!
//! Each rank collects the blocks in the order own, next, next but one …: in round k it gets the 2^k blocks
//! that the rank 2^k ahead has collected.

use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_comm::error::Result;

/// This rank's block must be in the receive buffer already.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn allgather(talk: &mut Conversation<'_>, blocks: &dyn Blocks) -> Result<()> {
    let (rank, size) = (talk.rank(), talk.size());
    if size == 1 {
        return Ok(());
    }
    // The start of the block of each rank, in the order of collection.
    let mut starts = Vec::with_capacity(size + 1);
    let mut total = 0;
    for ahead in 0..size {
        starts.push(total);
        total += blocks.block((rank + ahead) % size).len();
    }
    starts.push(total);

    let collected = talk.temporary_bytes(total)?;
    let bytes =
        |from: usize, to: usize| collected.at(starts[from] as i64).buffer((starts[to] - starts[from]) as i64);
    talk.copy(&blocks.block(rank), &bytes(0, 1));
    let mut have = 1;
    while have < size {
        let number = have.min(size - have);
        let (behind, ahead) = ((rank + size - have) % size, (rank + have) % size);
        talk.exchange((behind, bytes(0, number)), (ahead, bytes(have, have + number)));
        have += number;
    }
    for ahead in 1..size {
        talk.copy(&bytes(ahead, ahead + 1), &blocks.block((rank + ahead) % size));
    }
    Ok(())
}
