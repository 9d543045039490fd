//! Scans on the blackboard: each rank publishes its vector, and computes with those of the ranks below it,
//! from the nearest one down, so that the order of operands is that of ranks. Nobody waits for a rank above
//! it.

use super::kind::Kind;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::elements::Part;
use crate::reduction::Reduction;
use crate::shared_reduction::FoldFrom;
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn prefix(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
    kind: Kind,
) -> Result<()> {
    let (count, whole) = (receive.count, receive.len());
    let from = FoldFrom::new(talk, reduction, count)?;
    let source = |rank| Source { round: 0, rank, whole, offset: 0 };
    talk.take_rounds(1);
    talk.publish(0, send.unwrap_or(receive).buffer(), None);
    let mut below = (0..talk.rank()).rev();
    match (kind, send) {
        (Kind::Inclusive, Some(send)) => talk.copy(&send.buffer(), &receive.buffer()),
        (Kind::Inclusive, None) => {}
        (Kind::Exclusive, _) => {
            if let Some(nearest) = below.next() {
                talk.fetch(source(nearest), receive.buffer());
            }
        }
    }
    for rank in below {
        from.fold(talk, source(rank), (receive.elements, receive.elements), count);
    }
    talk.finish_round(0);
    Ok(())
}
