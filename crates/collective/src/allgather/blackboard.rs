//! Allgather on the blackboard: each rank offers its block, and copies those of the others.

use crate::basic::Offer;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// `own`: this rank's block, if it is not in the receive buffer already. The others copy it from there, so
/// that they need not wait for this rank's copy.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn allgather(
    talk: &mut Conversation<'_>,
    own: Option<Buffer>,
    blocks: &dyn Blocks,
    limits: Limits,
) -> Result<()> {
    let place = blocks.block(talk.rank());
    let offered = own.filter(|own| own.contiguous().is_some() && own.len() == place.len());
    if let Some(own) = own.filter(|_| offered.is_none()) {
        talk.copy(&own, &place);
    }
    let offer = Offer::new(talk, (0, offered.unwrap_or(place)), None, limits)?;
    let talk = &mut talk.take_rounds(1);
    offer.publish(talk);
    if let Some(own) = offered {
        talk.copy(&own, &place);
    }
    for rank in talk.others() {
        let block = blocks.block(rank);
        talk.fetch(Source { round: 0, rank, whole: block.len(), offset: 0 }, block);
    }
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}
