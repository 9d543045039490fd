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
    let talk = &mut talk.take_rounds(chunks.number());
    for round in 0..chunks.number() {
        let chunk = chunks.chunk(round);
        let operands = send.unwrap_or(receive).elements.at(chunk.first);
        let result = receive.elements.at(chunk.first);
        let source = below.map(|rank| Source { round, rank, whole: chunk.len, offset: 0 });
        // An exclusive scan's result has what the rank above needs until that is published.
        if let Some(source) = source.filter(|_| kind == ScanKind::Inclusive || above.is_some()) {
            from.fold(talk, source, (operands, result), chunk.count);
        }
        if above.is_some() {
            let combined = if below.is_some() { result } else { operands };
            talk.publish(round, combined.buffer(chunk.count), above);
        }
        if let Some(source) = source.filter(|_| kind == ScanKind::Exclusive) {
            talk.fetch(source, result.buffer(chunk.count));
        }
        talk.finish_round(round);
    }
    if let (ScanKind::Inclusive, None, Some(send)) = (kind, below, send) {
        talk.copy(&send.buffer(), &receive.buffer());
    }
    Ok(())
}
