//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw`.

mod batch;
mod blackboard;
mod bruck;
mod in_place;
mod pairwise;

use super::between_groups::all_to_all;
use super::conversation::Conversation;
use super::elements::{Blocks, Part, Parts, TypedParts, check_apart, check_distinct};
use super::switch_points::{ALLTOALL_BATCH_BYTES, ALLTOALL_BRUCK_BYTES, ALLTOALL_BRUCK_RANKS};
use super::tag;
use heddle_comm::blackboard::Limits;
use heddle_comm::error::Result;

/// Sends a block to each rank and receives a block from each. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn alltoall(talk: &mut Conversation<'_>, send: Option<Part<'_>>, receive: Part<'_>) -> Result<()> {
    if let Some(send) = &send {
        check_distinct(send, &receive)?;
    }
    talk.name(tag::ALLTOALL);
    if let Some(limits) = talk.limits().filter(|limits| fits(talk, &receive, send.is_none(), limits)) {
        return blackboard::alltoall(talk, send.as_ref(), &receive, limits);
    }
    if let Some(send) = &send {
        let is_small = receive.len() <= ALLTOALL_BRUCK_BYTES && !talk.is_between_groups();
        if is_small && talk.size() >= ALLTOALL_BRUCK_RANKS {
            bruck::alltoall(talk, send, &receive, receive.len())?;
            return Ok(());
        }
    }
    run(talk, send.as_ref().map(|part| part as &dyn Blocks), &receive)
}

/// Returns true if all blocks of a rank can be read in one round.
fn fits(talk: &Conversation<'_>, receive: &Part<'_>, is_in_place: bool, limits: &Limits) -> bool {
    let whole = receive.len().saturating_mul(talk.size());
    // Exposed data must stay as they are, and of two ranks both copy long blocks, each a half.
    whole <= limits.bytes || !is_in_place && talk.size() > 2 && limits.takes(whole)
}

/// Sends a block to each rank and receives a block from each; the blocks may differ in size and lie anywhere.
///
/// # Errors
/// The same as for [`alltoall`].
pub fn alltoallv(talk: &mut Conversation<'_>, send: Option<Parts<'_>>, receive: Parts<'_>) -> Result<()> {
    run(talk, send.as_ref().map(|parts| parts as &dyn Blocks), &receive)
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
    run(talk, send.as_ref().map(|parts| parts as &dyn Blocks), &receive)
}

/// Every algorithm here sends one message for each ordered pair of ranks, so two ranks
/// may choose different ones.
fn run(talk: &mut Conversation<'_>, send: Option<&dyn Blocks>, receive: &dyn Blocks) -> Result<()> {
    talk.name(tag::ALLTOALL);
    if talk.is_between_groups() {
        return all_to_all(talk, send.map(|send| |rank| send.block(rank)), receive);
    }
    match send {
        None => in_place::alltoall(talk, receive)?,
        Some(send) => {
            check_apart(|rank| send.block(rank), receive, talk.size())?;
            talk.copy(&send.block(talk.rank()), &receive.block(talk.rank()));
            let largest = (0..talk.size()).map(|rank| receive.block(rank).len()).max();
            if largest.is_some_and(|len| len <= ALLTOALL_BATCH_BYTES) {
                batch::alltoall(talk, send, receive);
            } else {
                pairwise::alltoall(talk, send, receive);
            }
        }
    }
    Ok(())
}
