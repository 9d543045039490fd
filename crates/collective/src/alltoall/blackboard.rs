//! All-to-all on the blackboard, with blocks of one size: each rank offers all its blocks, and copies its own
//! from each of the others.

use crate::basic::Offer;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Blocks, Part};
use heddle_blackboard::Limits;
use heddle_comm::error::Result;

/// `send` is `None` if the blocks that arrive replace those that leave: then they must be short enough to
/// be published.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn alltoall(
    talk: &mut Conversation<'_>,
    send: Option<&Part<'_>>,
    receive: &Part<'_>,
    limits: Limits,
) -> Result<()> {
    let (own, size, len) = (talk.rank(), talk.size(), receive.len());
    let offer = Offer::new(talk, (0, send.unwrap_or(receive).blocks(size)), None, limits)?;
    let talk = &mut talk.take_rounds(1);
    offer.publish(talk);
    if let Some(send) = send {
        talk.copy(&send.block(own), &receive.block(own));
    }
    for rank in talk.others() {
        talk.fetch(Source { round: 0, rank, whole: size * len, offset: own * len }, receive.block(rank));
    }
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}
