//! Gather on the blackboard: each rank offers its block to the root, which copies it. Nobody waits for the
//! root unless its block is long.

use crate::basic::Offer;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn gather(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    blocks: Option<&dyn Blocks>,
    (root, limits): (usize, Limits),
) -> Result<()> {
    let Some(blocks) = blocks else {
        let offer = Offer::new(talk, (0, send.unwrap_or(Buffer::empty())), Some(root), limits)?;
        let talk = &mut talk.take_rounds(1);
        offer.publish(talk);
        talk.finish_round(0);
        offer.take_back(talk);
        return Ok(());
    };
    let talk = &mut talk.take_rounds(1);
    if let Some(send) = send {
        talk.copy(&send, &blocks.block(root));
    }
    for rank in talk.others() {
        let block = blocks.block(rank);
        talk.fetch(Source { round: 0, rank, whole: block.len(), offset: 0 }, block);
    }
    talk.finish_round(0);
    Ok(())
}
