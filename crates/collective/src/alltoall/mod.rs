//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw`.

mod batch;
mod blackboard;
mod bruck;
mod in_place;
mod pairwise;

use super::basic::{OfTwo, Ways};
use super::between_groups::all_to_all;
use super::choices::choices;
use super::conversation::Conversation;
use super::data::{Blocks, Part, Parts, TypedParts};
use super::messages::tag;
use super::ranks::published;
use heddle_blackboard::{BlockTable, Limits};
use heddle_comm::error::Result;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Sends a block to each rank and receives a block from each. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn alltoall(talk: &mut Conversation<'_>, send: Option<Part<'_>>, receive: Part<'_>) -> Result<()> {
    let blocks = talk.remote_size();
    let send = send.map(|send| talk.apart(send, &receive, blocks)).transpose()?;
    talk.name(tag::ALLTOALL);
    talk.note_unless_of_two(receive.len());
    let choices = choices();
    let choice = choices.algorithm(CollectiveOperation::Alltoall, talk.size(), || receive.len());
    if let Some(limits) = talk.limits(choice) {
        let (size, len) = (talk.size(), receive.len());
        if size == 2 && of_two(talk, send.as_ref(), &receive, (limits, choice))? {
            return Ok(());
        }
        // A rank in the middle publishes most.
        let whole = len.saturating_mul(published(size / 2, size).len());
        let is_short = whole <= limits.bytes;
        // Exposed data must stay as they are, and of two ranks both copy long blocks, each a half.
        let exposes = send.is_some() && (size > 2 || choice == Algorithm::Blackboard);
        if is_short || exposes && limits.takes(whole) {
            return blackboard::alltoall(talk, send.as_ref(), &receive, limits);
        }
    }
    let travel_together = match choice {
        Algorithm::Bruck => true,
        Algorithm::Batch | Algorithm::Pairwise => false,
        _ => receive.len() <= choices.alltoall_bruck_bytes && talk.size() >= choices.alltoall_bruck_ranks,
    };
    if let (Some(send), true, false) = (&send, travel_together, talk.is_between_groups()) {
        bruck::alltoall(talk, send, &receive, receive.len())?;
        return Ok(());
    }
    run(talk, send.as_ref().map(|part| part as &dyn Blocks), &receive, choice)
}

/// Between two ranks. Returns false if it is recorded and a block is long; then nothing has happened.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
#[inline(always)]
fn of_two<B: Blocks + ?Sized>(
    talk: &mut Conversation<'_>,
    send: Option<&B>,
    receive: &B,
    (limits, choice): (Limits, Algorithm),
) -> Result<bool> {
    let (own, other) = (talk.rank(), 1 - talk.rank());
    let both = OfTwo {
        leaves: Some(send.unwrap_or(receive).block(other)),
        arrives: Some(receive.block(other)),
        own: send.map(|send| (send.block(own), receive.block(own))),
    };
    both.carry_out(talk, Ways::new(limits, choice, choices().alltoall_parts_bytes, false))
}

/// Sends a block to each rank and receives a block from each; the blocks may differ in size and lie anywhere.
///
/// # Errors
/// The same as for [`alltoall`].
pub fn alltoallv(talk: &mut Conversation<'_>, send: Option<Parts<'_>>, receive: Parts<'_>) -> Result<()> {
    of_any_sizes(talk, send, receive)
}

/// Sends a block to each rank and receives a block from each; the blocks may differ in datatype.
///
/// # Errors
/// The same as for [`alltoall`].
pub fn alltoallw(
    talk: &mut Conversation<'_>,
    send: Option<TypedParts<'_>>,
    receive: TypedParts<'_>,
) -> Result<()> {
    of_any_sizes(talk, send, receive)
}

/// A rank knows the sizes of its own blocks alone, so the choice depends on the number of ranks only.
fn of_any_sizes<B: Blocks>(talk: &mut Conversation<'_>, send: Option<B>, receive: B) -> Result<()> {
    let size = talk.size();
    let choice = choices().alltoall;
    talk.name(tag::ALLTOALL);
    talk.note(0);
    if size == 2
        && !talk.is_recorded()
        && let Some(limits) = talk.limits(choice)
    {
        let copied = match &send {
            Some(send) => talk.blocks_apart(send, |rank| receive.block(rank))?,
            None => None,
        };
        let limits = (limits, choice);
        match &copied {
            None => of_two(talk, send.as_ref(), &receive, limits),
            Some(copied) => of_two::<dyn Blocks>(talk, Some(copied), &receive, limits),
        }?;
        return Ok(());
    }
    let (send, receive) = (send.as_ref().map(|send| send as &dyn Blocks), &receive as &dyn Blocks);
    // Recorded steps of two ranks would have to choose a way by lengths on which the two may disagree.
    let is_quicker = size > 2 || choice == Algorithm::Blackboard;
    let limits = talk.limits(choice).filter(|limits| is_quicker && BlockTable::fits(size, limits));
    let (Some(send), Some(limits)) = (send, limits) else { return run(talk, send, receive, choice) };
    let [send, receive] = [send, receive].map(|blocks| (0..size).map(|rank| blocks.block(rank)).collect());
    blackboard::alltoallv(talk, send, receive, limits)
}

/// Every algorithm here sends one message for each ordered pair of ranks, so two ranks
/// may choose different ones.
fn run(
    talk: &mut Conversation<'_>,
    send: Option<&dyn Blocks>,
    receive: &dyn Blocks,
    choice: Algorithm,
) -> Result<()> {
    if talk.is_between_groups() {
        return all_to_all(talk, send.map(|send| |rank| send.block(rank)), receive);
    }
    match send {
        None => in_place::alltoall(talk, receive)?,
        Some(send) => {
            let copied = talk.blocks_apart(send, |rank| receive.block(rank))?;
            let send = copied.as_ref().map_or(send, |blocks| blocks as &dyn Blocks);
            talk.copy(&send.block(talk.rank()), &receive.block(talk.rank()));
            let largest = || (0..talk.size()).map(|rank| receive.block(rank).len()).max();
            let at_once = match choice {
                Algorithm::Batch => true,
                Algorithm::Pairwise => false,
                _ => largest().is_some_and(|len| len <= choices().alltoall_batch_bytes),
            };
            if at_once {
                batch::alltoall(talk, send, receive);
            } else {
                pairwise::alltoall(talk, send, receive);
            }
        }
    }
    Ok(())
}
