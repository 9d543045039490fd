//! `MPI_Allgather` and `MPI_Allgatherv`.

mod blackboard;
mod bruck;
mod by_machine;
mod leaders;
mod ring;

use super::between_groups::all_to_all;
use super::choices::choices;
use super::conversation::{Conversation, Leaders};
use super::data::{Blocks, Part, Parts};
use super::messages::tag;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Gives a block of each rank to all. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn allgather(talk: &mut Conversation<'_>, send: Option<Part<'_>>, receive: Part<'_>) -> Result<()> {
    let send = send.map(|send| talk.apart(send, &receive, 1)).transpose()?;
    run(talk, send.map(|part| part.buffer()), &receive, |size| receive.len() * size)
}

/// Gives a block of each rank to all; the blocks may differ in size.
///
/// # Errors
/// The same as for [`allgather`].
pub fn allgatherv(talk: &mut Conversation<'_>, send: Option<Part<'_>>, receive: Parts<'_>) -> Result<()> {
    let send = match send.map(|part| part.buffer()) {
        Some(send) if !talk.is_between_groups() => Some(talk.buffer_apart(send, &receive)?),
        send => send,
    };
    run(talk, send, &receive, |size| (0..size).map(|rank| receive.block(rank).len()).sum())
}

/// `whole`: the bytes of the blocks of so many ranks.
fn run(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    blocks: &dyn Blocks,
    whole: impl FnOnce(usize) -> usize,
) -> Result<()> {
    talk.name(tag::ALLGATHER);
    if talk.is_between_groups() {
        return all_to_all(talk, send.map(|send| move |_| send), blocks);
    }
    talk.note(whole(talk.size()));
    to_all(talk, send, blocks)
}

/// Gives the block of each rank that acts now to all of them. `own`: this rank's, if it is not in its place
/// already.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
fn to_all(talk: &mut Conversation<'_>, own: Option<Buffer>, blocks: &dyn Blocks) -> Result<()> {
    let (size, choices) = (talk.size(), choices());
    let lens = || (0..size).map(|rank| blocks.block(rank).len());
    let mean = || lens().sum::<usize>() / size;
    let choice = choices.algorithm(CollectiveOperation::Allgather, size, mean);
    if let Some(limits) = talk.limits(choice) {
        let longest = lens().max().unwrap_or(0);
        if longest > limits.bytes
            && limits.prefers_parts(longest, choices.allgather_exposed_bytes)
            && blackboard::in_parts(talk, own, blocks, limits)
        {
            return Ok(());
        }
        if lens().all(|len| limits.takes(len)) {
            return blackboard::allgather(talk, own, blocks, limits);
        }
    }
    if let Some(own) = own {
        talk.copy(&own, &blocks.block(talk.rank()));
    }
    let whole: usize = lens().sum();
    if let Some(machines) = talk.machines(choice, whole <= choices.allgather_leaders_bytes) {
        let again = |talk: &mut Conversation<'_>, blocks: &dyn Blocks| to_all(talk, None, blocks);
        return leaders::allgather(talk, Leaders::new(machines, None), blocks, again);
    }
    let travel_together = match choice {
        Algorithm::Bruck => true,
        Algorithm::Ring => false,
        _ => whole < choices.allgather_ring_bytes,
    };
    if travel_together {
        bruck::allgather(talk, blocks)?;
    } else {
        ring::allgather(talk, blocks);
    }
    Ok(())
}
