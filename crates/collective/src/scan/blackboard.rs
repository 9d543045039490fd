//! Scans on the blackboard, from rank to rank: each computes with what the rank below it has published, and
//! publishes what the rank above it needs. Nobody waits for a rank above it, and each reads one vector. Long
//! vectors go in chunks, so that all ranks compute at once.

use super::kind::ScanKind;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Part, Reduction};
use crate::shared_reduction::{Chunks, FoldFrom};
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn prefix(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
    (kind, chunks): (ScanKind, Chunks),
) -> Result<()> {
    let below = talk.rank().checked_sub(1);
    let above = Some(talk.rank() + 1).filter(|&above| above < talk.size());
    let longest = chunks.chunk(0).count;
    let from = FoldFrom::new(talk, reduction, longest)?;
    // An exclusive scan's result does not have the operands that the rank above needs.
    let for_above = match (kind, below, above) {
        (ScanKind::Exclusive, Some(_), Some(_)) => Some(talk.vector(reduction, longest)?),
        _ => None,
    };
    let talk = &mut talk.take_rounds(chunks.number());
    for round in 0..chunks.number() {
        let chunk = chunks.chunk(round);
        let source = |rank| Source { round, rank, whole: chunk.len, offset: 0 };
        let operands = send.unwrap_or(receive).elements.at(chunk.first);
        let result = receive.elements.at(chunk.first);
        let combined = match (kind, below) {
            (_, None) => operands,
            (ScanKind::Inclusive, Some(rank)) => {
                from.fold(talk, source(rank), (operands, result), chunk.count);
                result
            }
            (ScanKind::Exclusive, Some(rank)) => {
                if let Some(combined) = for_above {
                    from.fold(talk, source(rank), (operands, combined), chunk.count);
                }
                talk.fetch(source(rank), result.buffer(chunk.count));
                for_above.unwrap_or(result)
            }
        };
        if above.is_some() {
            talk.publish(round, combined.buffer(chunk.count), above);
        }
        talk.finish_round(round);
    }
    if let (ScanKind::Inclusive, None, Some(send)) = (kind, below, send) {
        talk.copy(&send.buffer(), &receive.buffer());
    }
    Ok(())
}
