//! All-to-all on the blackboard: each rank offers all its blocks, and copies its own from each of the others.

use crate::basic::{Offer, OfferedBlocks};
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Blocks, Part};
use crate::messages::tag;
use crate::ranks::published;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use std::mem::replace;

/// With blocks of one size. `send` is `None` if the blocks that arrive replace those that leave: then they
/// must be short enough to be published.
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
    let offer = Offer::new(talk, (0, send.unwrap_or(receive).blocks_of(published(own, size))), None, limits)?;
    let talk = &mut talk.take_rounds(1);
    offer.publish(talk);
    if let Some(send) = send {
        talk.copy(&send.block(own), &receive.block(own));
    }
    for rank in talk.others() {
        let blocks = published(rank, size);
        let (whole, offset) = (blocks.len() * len, (own - blocks.start) * len);
        talk.fetch(Source { round: 0, rank, whole, offset }, receive.block(rank));
    }
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}

/// With blocks of any sizes. Nobody waits for a rank from which it expects nothing.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn alltoallv(
    talk: &mut Conversation<'_>,
    send: Vec<Buffer>,
    receive: Vec<Buffer>,
    limits: Limits,
) -> Result<()> {
    let own = talk.rank();
    let mut send = talk.blocks_apart(&send, |rank| receive[rank])?.unwrap_or(send);
    let own_block = replace(&mut send[own], Buffer::empty());
    let offer = OfferedBlocks::new(talk, 0, send.into(), limits)?;
    talk.name(tag::ALLTOALL_BLOCKS);
    let talk = &mut talk.take_rounds(1);
    let offered = offer.publish(talk);
    talk.copy(&own_block, &receive[own]);
    for rank in talk.others() {
        let block = receive[rank];
        if !block.is_empty() {
            talk.fetch_block(Source { round: 0, rank, whole: block.len(), offset: 0 }, block);
        }
    }
    talk.finish_round(0);
    offered.take_back(talk);
    Ok(())
}
