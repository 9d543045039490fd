//! Broadcast on the blackboard: the root offers its data, and the others copy them. With short data the root
//! waits for nobody, unless it is far ahead.

use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::offer::Offer;
use heddle_comm::blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn bcast(talk: &mut Conversation<'_>, data: Buffer, root: usize, limits: Limits) -> Result<()> {
    if talk.rank() != root {
        talk.take_rounds(1);
        talk.fetch(Source { round: 0, rank: root, whole: data.len(), offset: 0 }, data);
        talk.finish_round(0);
        return Ok(());
    }
    let offer = Offer::new(talk, (0, data), None, limits)?;
    talk.take_rounds(1);
    offer.publish(talk);
    talk.finish_round(0);
    offer.take_back(talk);
    Ok(())
}
