//! `MPI_Bcast`.

mod scatter_ring;
mod tree;

use super::conversation::Conversation;
use super::elements::Part;
use super::switch_points::{BCAST_SCATTER_BYTES, BCAST_SCATTER_RANKS};
use super::{Circle, check_root, tag};
use heddle_comm::CommRef;
use heddle_comm::error::Result;

/// Gives the root's data to all.
///
/// # Errors
/// `MPI_ERR_ROOT`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn bcast(comm: &CommRef, data: Part<'_>, root: i32) -> Result<()> {
    let circle = Circle { root: check_root(comm, root)?, size: comm.size() };
    let mut talk = Conversation::new(comm, tag::BCAST);
    if data.len() >= BCAST_SCATTER_BYTES && comm.size() >= BCAST_SCATTER_RANKS {
        scatter_ring::bcast(&mut talk, &data.buffer(), circle)?;
    } else {
        tree::bcast(&mut talk, &data.buffer(), circle);
    }
    talk.finish()
}
