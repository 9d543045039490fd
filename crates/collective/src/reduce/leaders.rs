//! Reduce by leaders: the ranks of each machine combine their operands at its leader, and the leaders their
//! results at the root, which is the leader of its machine.

use crate::conversation::{Conversation, Leaders};
use crate::data::{Elements, Part, Reduction};
use crate::ranks::Circle;
use heddle_comm::error::Result;

/// `reduce` is the operation among the ranks that act.
///
/// # Errors
/// Those of `reduce`; `MPI_ERR_NO_MEM`.
pub(super) fn reduce<'a, 'd>(
    talk: &mut Conversation<'a>,
    leaders: Leaders<'a>,
    reduction: &Reduction<'d>,
    (operands, destination): (Part<'d>, Option<Elements<'d>>),
    reduce: impl Fn(&mut Conversation<'a>, Part<'d>, Option<Elements<'d>>, Circle) -> Result<()>,
) -> Result<()> {
    let mut result = operands;
    if leaders.has_others_here() {
        let at_leader = if leaders.is_one() {
            result.elements = talk.vector_in(destination, reduction, operands.count)?;
            Some(result.elements)
        } else {
            None
        };
        let here = |size| Circle { root: leaders.here(), size };
        talk.on_machine(leaders, |talk| reduce(talk, operands, at_leader, here(talk.size())))?;
    }
    if leaders.is_one() {
        let all = |size| Circle { root: leaders.of_root(), size };
        talk.among_leaders(leaders, |talk| reduce(talk, result, destination, all(talk.size())))?;
    }
    Ok(())
}
