//! `MPI_Bcast`.

mod blackboard;
mod scatter_ring;

use super::basic::bcast_by_tree;
use super::between_groups::bcast_between;
use super::conversation::Conversation;
use super::elements::Part;
use super::switch_points::{BCAST_SCATTER_BYTES, BCAST_SCATTER_RANKS};
use super::{Circle, check_root, tag};
use heddle_comm::blackboard::Limits;
use heddle_comm::error::Result;

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
    // Of two ranks both copy a long message, each a half.
    let fits = |limits: &Limits| data.len() <= limits.bytes || talk.size() > 2 && limits.takes(data.len());
    if let Some(limits) = talk.limits().filter(fits) {
        blackboard::bcast(talk, data.buffer(), circle.root, limits)?;
    } else if data.len() >= BCAST_SCATTER_BYTES && talk.size() >= BCAST_SCATTER_RANKS {
        scatter_ring::bcast(talk, &data.buffer(), circle)?;
    } else {
        bcast_by_tree(talk, &data.buffer(), circle);
    }
    Ok(())
}
