//! `MPI_Scan` and `MPI_Exscan` by recursive doubling: in round k partners are 2^k ranks apart and exchange
//! the combination of the 2^k ranks around them; the higher one combines it with its result. ⌈log₂ n⌉ rounds
//! of the whole vector (Thakur, Rabenseifner, Gropp 2005; after Hillis, Steele: *Data Parallel Algorithms*,
//! CACM 29(12), 1986, doi:10.1145/7902.7903).
//!
//! A rank whose partner does not exist skips the round: lower ranks need only complete ranges below them.
//!
//! Where there is a [blackboard], vectors go over that instead.

mod blackboard;
mod kind;

use super::basic::{Accumulator, Side};
use super::choices::choices;
use super::conversation::Conversation;
use super::data::{Part, Reduction};
use super::messages::tag;
use super::shared_reduction::Chunks;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_settings::CollectiveOperation;
use kind::ScanKind;

/// The most bytes of a chunk on the blackboard: the rank above waits for the first one.
const CHUNK: usize = 32 << 10;

/// Combines the data of all ranks up to each one. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`, `MPI_ERR_NO_MEM`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn scan(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
) -> Result<()> {
    prefix(talk, reduction, send, receive, ScanKind::Inclusive)
}

/// Combines the data of all ranks below each one; rank 0's `receive` is left as it is.
///
/// # Errors
/// The same as for [`scan`].
pub fn exscan(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
) -> Result<()> {
    prefix(talk, reduction, send, receive, ScanKind::Exclusive)
}

/// The partners of a rank, nearest first.
fn partners(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..size.next_power_of_two().trailing_zeros())
        .map(move |bit| rank ^ 1 << bit)
        .filter(move |&partner| partner < size)
}

fn prefix(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
    kind: ScanKind,
) -> Result<()> {
    talk.comm().check_intra()?;
    let send = send.map(|send| talk.apart(send, &receive, 1)).transpose()?;
    let (rank, size, count) = (talk.rank(), talk.size(), receive.count);
    let tag = if kind == ScanKind::Inclusive { tag::SCAN } else { tag::EXSCAN };
    talk.name(tag);
    talk.note(receive.len());
    let chunks = |limits: Limits| {
        let limits = Limits { bytes: limits.bytes.min(CHUNK), ..limits };
        Chunks::new(count, reduction.datatype().size() as usize, limits)
    };
    let choice = choices().algorithm(CollectiveOperation::Scan, size, || receive.len());
    if let Some(chunks) = talk.limits(choice).and_then(chunks) {
        return blackboard::prefix(talk, reduction, send, receive, (kind, chunks));
    }
    let (around, spare) = (talk.vector(reduction, count)?, talk.vector(reduction, count)?);
    // The combination of the ranks around this one.
    let mut around = Accumulator { reduction, result: around, spare, count };
    talk.copy(&send.unwrap_or(receive).buffer(), &around.result.buffer(count));
    if let (Some(send), ScanKind::Inclusive) = (&send, kind) {
        talk.copy(&send.buffer(), &receive.buffer());
    }
    let mut below = kind == ScanKind::Inclusive;
    for partner in partners(rank, size) {
        talk.exchange((partner, around.result.buffer(count)), (partner, around.spare.buffer(count)));
        if partner > rank {
            around.take(talk, Side::Higher);
            continue;
        }
        if below {
            talk.combine(reduction, (around.spare, receive.elements), count);
        } else {
            talk.copy(&around.spare.buffer(count), &receive.buffer());
            below = true;
        }
        around.take(talk, Side::Lower);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_partners_bring_every_lower_rank_once() {
        for size in 1..40 {
            // The ranks that each rank has combined, as a set of bits, round by round.
            let mut around: Vec<u64> = (0..size).map(|rank| 1 << rank).collect();
            let mut below = vec![0u64; size];
            for bit in 0..size.next_power_of_two().trailing_zeros() {
                let before = around.clone();
                for rank in 0..size {
                    let partner = rank ^ 1 << bit;
                    if partner < size {
                        assert!(partners(rank, size).any(|other| other == partner));
                        around[rank] |= before[partner];
                        if partner < rank {
                            assert_eq!(below[rank] & before[partner], 0);
                            below[rank] |= before[partner];
                        }
                    }
                }
            }
            assert!((0..size).all(|rank| below[rank] == (1 << rank) - 1));
        }
    }
}
