//! Broadcast on the blackboard: the root publishes its data, in parts if they are long, and the others copy
//! them. The root waits for nobody, unless it is far ahead. Data that would have too many parts are offered
//! in one round.

use crate::basic::{InParts, Offer};
use crate::blackboard::Source;
use crate::conversation::Conversation;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn bcast(talk: &mut Conversation<'_>, data: Buffer, root: usize, limits: Limits) -> Result<()> {
    let source = |round| Source { round, rank: root, whole: data.len(), offset: 0 };
    let is_root = talk.rank() == root;
    let Some(parts) = InParts::new(data.len(), limits.pipelined(data.len())) else {
        let offer = is_root.then(|| Offer::new(talk, (0, data), None, limits)).transpose()?;
        let talk = &mut talk.take_rounds(1);
        match &offer {
            Some(offer) => offer.publish(talk),
            None => talk.fetch(source(0), data),
        }
        talk.finish_round(0);
        if let Some(offer) = offer {
            offer.take_back(talk);
        }
        return Ok(());
    };
    let talk = &mut talk.take_rounds(parts.number());
    for round in 0..parts.number() {
        if is_root {
            talk.publish_part(round, (data, parts.span(round)), None);
        } else {
            talk.fetch_part(source(round), (data, parts.span(round)));
        }
        talk.finish_round(round);
    }
    Ok(())
}
