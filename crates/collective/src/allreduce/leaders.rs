//! Allreduce by leaders: the ranks of each machine combine their operands at its leader, the leaders have an
//! allreduce of these, and each leader gives the result to the ranks of its machine.

use crate::bcast::bcast_from;
use crate::conversation::{Conversation, Leaders};
use crate::data::{Part, Reduction};
use crate::ranks::Circle;
use crate::reduce::reduce_to;
use heddle_comm::error::Result;

/// `allreduce` is the operation among the ranks that act. Operands that are not given are in the result's
/// vector.
///
/// # Errors
/// Those of its parts.
pub(super) fn allreduce<'a, 'd>(
    talk: &mut Conversation<'a>,
    leaders: Leaders<'a>,
    reduction: &Reduction<'d>,
    (operands, result): (Option<Part<'d>>, Part<'d>),
    allreduce: impl Fn(&mut Conversation<'a>, Option<Part<'d>>) -> Result<()>,
) -> Result<()> {
    let here = |size| Circle { root: leaders.here(), size };
    if leaders.has_others_here() {
        let destination = leaders.is_one().then_some(result.elements);
        talk.on_machine(leaders, |talk| {
            reduce_to(talk, reduction, operands.unwrap_or(result), destination, here(talk.size()))
        })?;
    }
    if leaders.is_one() {
        let given = operands.filter(|_| !leaders.has_others_here());
        talk.among_leaders(leaders, |talk| allreduce(talk, given))?;
    }
    talk.on_machine(leaders, |talk| bcast_from(talk, result, here(talk.size())))
}
