//! `MPI_Bcast`.

mod blackboard;
mod leaders;
mod scatter_ring;

use super::arguments::check_root;
use super::basic::bcast_by_tree;
use super::between_groups::bcast_between;
use super::choices::choices;
use super::conversation::{Conversation, Leaders};
use super::data::Part;
use super::messages::tag;
use super::ranks::Circle;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Gives the root's data to all.
///
/// # Errors
/// `MPI_ERR_ROOT`, `MPI_ERR_NO_MEM`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn bcast(talk: &mut Conversation<'_>, data: Part<'_>, root: i32) -> Result<()> {
    if talk.is_between_groups() {
        return bcast_between(talk, data, root);
    }
    let circle = Circle { root: check_root(talk.comm(), root)?, size: talk.size() };
    talk.name(tag::BCAST);
    talk.note(data.len());
    bcast_from(talk, data, circle)
}

/// Gives the root's data to all ranks that act now.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn bcast_from(talk: &mut Conversation<'_>, data: Part<'_>, circle: Circle) -> Result<()> {
    let choices = choices();
    let len = data.len();
    let choice = choices.algorithm(CollectiveOperation::Bcast, talk.size(), || len);
    // Of two ranks both copy a long message, each a half.
    let may_be_long = talk.size() > 2 || choice == Algorithm::Blackboard || len <= choices.bcast_parts_bytes;
    let fits = |limits: &Limits| {
        len <= limits.bytes || may_be_long && (limits.takes_in_parts(len) || limits.takes(len))
    };
    if let Some(limits) = talk.limits(choice).filter(fits) {
        blackboard::bcast(talk, data.buffer(), circle.root, limits)?;
        return Ok(());
    }
    let is_quicker = data.len() <= choices.bcast_leaders_bytes;
    if let Some(machines) = talk.machines(choice, is_quicker) {
        let leaders = Leaders::new(machines, Some(circle.root));
        return leaders::bcast(talk, leaders, |talk, circle| bcast_from(talk, data, circle));
    }
    let in_pieces = match choice {
        Algorithm::Binomial => false,
        Algorithm::ScatterRing => true,
        _ => data.len() >= choices.bcast_scatter_bytes && talk.size() >= choices.bcast_scatter_ranks,
    };
    if in_pieces {
        scatter_ring::bcast(talk, &data.buffer(), circle)?;
    } else {
        bcast_by_tree(talk, &data.buffer(), circle);
    }
    Ok(())
}
