//! Allgather on the blackboard: each rank offers its block, and copies those of the others.

use crate::basic::Offer;
use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;

/// This rank's block must be in the receive buffer already.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn allgather(talk: &mut Conversation<'_>, blocks: &dyn Blocks, limits: Limits) -> Result<()> {
    let own = blocks.block(talk.rank());
    let offer = Offer::new(talk, (0, own), None, limits)?;
    let talk = &mut talk.take_rounds(1);
    offer.publish(talk);
    for rank in talk.others() {
        let block = blocks.block(rank);
        talk.fetch(Source { round: 0, rank, whole: block.len(), offset: 0 }, block);
    }
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}
