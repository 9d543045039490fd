//! `MPI_Allreduce`.

mod blackboard;
mod doubling;
mod leaders;
mod scattered;

pub(super) use doubling::allreduce as by_doubling;

use super::basic::Accumulator;
use super::between_groups::allreduce_between;
use super::choices::choices;
use super::conversation::{Conversation, Leaders};
use super::data::{Part, Reduction};
use super::messages::tag;
use heddle_comm::error::Result;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Combines the data of all ranks everywhere. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn allreduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
) -> Result<()> {
    if talk.is_between_groups() {
        return allreduce_between(talk, reduction, send, receive);
    }
    talk.name(tag::ALLREDUCE);
    talk.note(receive.len());
    let send = send.map(|send| talk.apart(send, &receive, 1)).transpose()?;
    allreduce_everywhere(talk, reduction, send, receive)
}

/// Combines the operands of all ranks that act now at each of them.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
fn allreduce_everywhere<'d>(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'d>,
    send: Option<Part<'d>>,
    receive: Part<'d>,
) -> Result<()> {
    let choices = choices();
    let choice = choices.algorithm(CollectiveOperation::Allreduce, talk.size(), || receive.len());
    if let Some(limits) = talk.limits(choice)
        && blackboard::allreduce(talk, reduction, send.unwrap_or(receive), receive.elements, limits)?
    {
        return Ok(());
    }
    let is_quicker = receive.len() <= choices.allreduce_leaders_bytes;
    if let Some(machines) = talk.machines_for(reduction, choice, is_quicker) {
        let leaders = Leaders::new(machines, None);
        return leaders::allreduce(talk, leaders, reduction, (send, receive), |talk, send| {
            allreduce_everywhere(talk, reduction, send, receive)
        });
    }
    if let Some(send) = send {
        talk.copy(&send.buffer(), &receive.buffer());
    }
    if talk.size() == 1 {
        return Ok(());
    }
    let count = receive.count;
    let spare = talk.vector(reduction, count)?;
    let mut vector = Accumulator { reduction, result: receive.elements, spare, count };
    let in_pieces = match choice {
        Algorithm::RecursiveDoubling => false,
        Algorithm::Rabenseifner => true,
        _ => {
            receive.len() >= choices.allreduce_rabenseifner_bytes
                && count >= talk.size() as i64
                && talk.size() > 2
        }
    };
    if in_pieces && reduction.commutes() {
        scattered::allreduce(talk, &mut vector);
    } else {
        by_doubling(talk, &mut vector);
        vector.deliver(talk, receive.elements);
    }
    Ok(())
}
