//! Allgather on the blackboard: each rank offers its block, and copies those of the others. Long blocks go in
//! parts.

use crate::basic::{InParts, Offer, publish_and_read};
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

/// The same with blocks in parts. Returns false if there would be too many; then nothing has happened.
pub(super) fn in_parts(
    talk: &mut Conversation<'_>,
    own: Option<Buffer>,
    blocks: &dyn Blocks,
    limits: Limits,
) -> bool {
    let (own_rank, size) = (talk.rank(), talk.size());
    let parts: Option<Vec<InParts>> =
        (0..size).map(|rank| InParts::new(blocks.block(rank).len(), limits)).collect();
    let Some(parts) = parts else { return false };
    let place = blocks.block(own_rank);
    let offered = own.filter(|own| own.len() == place.len());
    if let Some(own) = own.filter(|_| offered.is_none()) {
        talk.copy(&own, &place);
    }
    let data = offered.unwrap_or(place);
    let span = |rank: usize, round| Some(parts[rank].span(round)).filter(|span| span.len != 0);
    let rounds = parts.iter().map(|parts| parts.number()).max().unwrap_or(0);
    let talk = &mut talk.take_rounds(rounds);
    publish_and_read(
        talk,
        rounds,
        |talk, round| {
            if let Some(span) = span(own_rank, round) {
                talk.publish_part(round, (data, span), None);
            }
        },
        |talk, round| {
            if let Some(own) = offered.filter(|_| round == 0) {
                talk.copy(&own, &place);
            }
            for rank in talk.others() {
                if let Some(span) = span(rank, round) {
                    let block = blocks.block(rank);
                    talk.fetch_part(Source { round, rank, whole: block.len(), offset: 0 }, (block, span));
                }
            }
        },
    );
    true
}
