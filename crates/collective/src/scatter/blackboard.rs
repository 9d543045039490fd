//! Scatter on the blackboard: the root publishes all blocks, and each rank copies its own. The root waits for
//! nobody, unless it is far ahead, or the blocks are so long that they stay where they are.

use crate::basic::{Offer, OfferedBlocks};
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Blocks, Part};
use crate::messages::tag;
use crate::ranks::published;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// With blocks of one size. `send`: the blocks, at the root; `receive`: where this rank wants its own, of
/// `block_len` bytes.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn scatter(
    talk: &mut Conversation<'_>,
    send: Option<Part<'_>>,
    (receive, block_len): (Option<Buffer>, usize),
    (root, limits): (usize, Limits),
) -> Result<()> {
    let (rank, blocks) = (talk.rank(), published(root, talk.size()));
    let Some(send) = send else {
        let talk = &mut talk.take_rounds(1);
        if let Some(receive) = receive {
            let (whole, offset) = (blocks.len() * block_len, (rank - blocks.start) * block_len);
            talk.fetch(Source { round: 0, rank: root, whole, offset }, receive);
        }
        talk.finish_round(0);
        return Ok(());
    };
    let offer = Offer::new(talk, (0, send.blocks_of(blocks)), None, limits)?;
    let talk = &mut talk.take_rounds(1);
    offer.publish(talk);
    if let Some(receive) = receive {
        talk.copy(&send.block(rank), &receive);
    }
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}

/// With blocks of any sizes, which the root knows. `receive`: where this rank wants its own.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn scatterv(
    talk: &mut Conversation<'_>,
    send: Option<&dyn Blocks>,
    receive: Option<Buffer>,
    (root, limits): (usize, Limits),
) -> Result<()> {
    talk.name(tag::SCATTER_BLOCKS);
    let Some(send) = send else {
        let talk = &mut talk.take_rounds(1);
        if let Some(room) = receive.filter(|room| !room.is_empty()) {
            talk.fetch_block(Source { round: 0, rank: root, whole: room.len(), offset: 0 }, room);
        }
        talk.finish_round(0);
        return Ok(());
    };
    let to = |rank| if rank == root { Buffer::empty() } else { send.block(rank) };
    let blocks = (0..talk.size()).map(to).collect();
    let offer = OfferedBlocks::new(talk, 0, blocks, limits)?;
    let talk = &mut talk.take_rounds(1);
    let offered = offer.publish(talk);
    if let Some(receive) = receive {
        talk.copy(&send.block(root), &receive);
    }
    talk.finish_round(0);
    offered.take_back(talk);
    Ok(())
}
