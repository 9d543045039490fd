//! `MPI_Reduce` and `MPI_Reduce_local`.

mod blackboard;
mod leaders;
mod scattered;

use super::arguments::{check_root, in_place_not_allowed, no_buffer};
use super::basic::reduce_by_tree;
use super::between_groups::reduce_between;
use super::choices::choices;
use super::conversation::{Conversation, Leaders};
use super::data::{Elements, Part, Reduction, same_memory};
use super::messages::tag;
use super::ranks::Circle;
use heddle_comm::error::Result;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Combines the data of all ranks at the root. `send` is `None` for `MPI_IN_PLACE`, `receive`
/// counts at the root only.
///
/// # Errors
/// `MPI_ERR_ROOT`, `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn reduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Option<Part<'_>>,
    root: i32,
) -> Result<()> {
    if talk.is_between_groups() {
        return reduce_between(talk, reduction, send, receive, root);
    }
    let circle = Circle { root: check_root(talk.comm(), root)?, size: talk.size() };
    let receive =
        if talk.rank() == circle.root { Some(receive.ok_or_else(|| no_buffer("receive"))?) } else { None };
    let send = match (send, &receive) {
        (Some(send), Some(receive)) => Some(talk.apart(send, receive, 1)?),
        (send, _) => send,
    };
    let Some(operands) = send.or(receive) else {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    };
    talk.name(tag::REDUCE);
    talk.note(operands.len());
    reduce_to(talk, reduction, operands, receive.map(|part| part.elements), circle)
}

/// Combines the operands of all ranks that act now at the root, which wants the result in `destination`.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce_to<'d>(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'d>,
    operands: Part<'d>,
    destination: Option<Elements<'d>>,
    circle: Circle,
) -> Result<()> {
    let choices = choices();
    let choice = choices.algorithm(CollectiveOperation::Reduce, talk.size(), || operands.len());
    if let Some(limits) = talk.limits(choice)
        && blackboard::reduce(talk, reduction, operands, destination, (circle.root, limits))?
    {
        return Ok(());
    }
    let is_quicker = operands.len() <= choices.reduce_leaders_bytes;
    if let Some(machines) = talk.machines_for(reduction, choice, is_quicker) {
        let leaders = Leaders::new(machines, Some(circle.root));
        let data = (operands, destination);
        return leaders::reduce(talk, leaders, reduction, data, |talk, operands, destination, circle| {
            reduce_to(talk, reduction, operands, destination, circle)
        });
    }
    let in_pieces = match choice {
        Algorithm::Binomial => false,
        Algorithm::Rabenseifner => true,
        _ => {
            operands.len() >= choices.reduce_rabenseifner_bytes
                && operands.count >= talk.size() as i64
                && talk.size() > 2
        }
    };
    if in_pieces && reduction.commutes() {
        scattered::reduce(talk, reduction, operands, destination, circle)?;
    } else {
        reduce_by_tree(talk, reduction, operands, destination, circle)?;
    }
    Ok(())
}

/// Combines two vectors of this process: `inout = input OP inout`.
///
/// # Errors
/// `MPI_ERR_BUFFER`.
pub fn reduce_local(reduction: &Reduction<'_>, input: Part<'_>, inout: Part<'_>) -> Result<()> {
    if input.aliases(&inout) {
        return Err(same_memory());
    }
    reduction.apply(input.elements, inout.elements, inout.count);
    Ok(())
}
