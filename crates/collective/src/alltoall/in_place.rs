//! All-to-all in place: the blocks that arrive replace those that leave. In round k, two ranks exchange if
//! their sum is k modulo n. So each rank has one partner per round and copies one block at a time.

use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn alltoall(talk: &mut Conversation<'_>, blocks: &dyn Blocks) -> Result<()> {
    let (rank, size) = (talk.rank(), talk.size());
    let partners = || (0..size).map(|round| partner(rank, round, size)).filter(|&partner| partner != rank);
    let largest = partners().map(|partner| blocks.block(partner).len()).max().unwrap_or(0);
    let copy = talk.temporary_bytes(largest)?;
    for partner in partners() {
        let block = blocks.block(partner);
        if talk.leaves_out(&block) {
            continue;
        }
        let outgoing = copy.buffer(block.len() as i64);
        talk.copy(&block, &outgoing);
        talk.exchange((partner, outgoing), (partner, block));
    }
    Ok(())
}

fn partner(rank: usize, round: usize, size: usize) -> usize {
    (round + size - rank) % size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_meets_everyone_once_and_partners_agree() {
        for size in 1..20 {
            for rank in 0..size {
                let mut met: Vec<usize> = (0..size).map(|round| partner(rank, round, size)).collect();
                assert!((0..size).all(|round| partner(met[round], round, size) == rank));
                met.sort_unstable();
                assert_eq!(met, (0..size).collect::<Vec<_>>());
            }
        }
    }
}
