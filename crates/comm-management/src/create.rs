//! Communicators of given groups.

use crate::context::{self, COLLECTIVE, Channel};
use crate::insert::insert;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::topology::VirtualTopology;
use heddle_comm::{Comm, CommRef, Plane};
use heddle_message::context::{Context, VniChoice};
use heddle_message::domain;
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// A part of a communicator with one group.
///
/// # Errors
/// `MPI_ERR_GROUP` if the group is not within the parent's; `MPI_ERR_OTHER` if the leader has no number left
/// for a context.
pub(crate) fn create(parent: &CommRef, group: &Arc<Group>) -> Result<usize> {
    made(parent, group, COLLECTIVE, VniChoice::default(), |_| {})
}

/// `MPI_Comm_create_group`: called by the members of the group alone. Tags tell simultaneous
/// creations on one parent apart.
///
/// # Errors
/// `MPI_ERR_GROUP` and `MPI_ERR_OTHER` as for [`create`](super::create()); `MPI_ERR_TAG` for a negative tag.
pub fn create_group(parent: &CommRef, group: &Arc<Group>, tag: i32) -> Result<usize> {
    if !heddle_p2p::is_tag(tag) {
        let message = format!("{tag} is not a tag: tags go from 0 to MPI_TAG_UB");
        return Err(Error::new(mpi::MPI_ERR_TAG, message));
    }
    made(parent, group, (Plane::CreateGroup, tag), VniChoice::default(), |_| {})
}

/// A communicator with a topology; all members of the parent call it, and all know the group.
pub(crate) fn of_group(parent: &CommRef, group: &Arc<Group>, topology: VirtualTopology) -> Result<usize> {
    made(parent, group, COLLECTIVE, VniChoice::default(), |comm| comm.topology = Some(topology))
}

/// A communicator of a group, completed by `furnish`; the leader's choice of VNIs takes effect.
pub(crate) fn made(
    parent: &CommRef,
    group: &Arc<Group>,
    channel: Channel,
    choice: VniChoice,
    furnish: impl FnOnce(&mut Comm),
) -> Result<usize> {
    parent.check_intra()?;
    if !group.is_within(&parent.group) {
        let message = "the group has members that the parent communicator has not";
        return Err(Error::new(mpi::MPI_ERR_GROUP, message));
    }
    let domain = domain::current()?;
    let Some(rank) = group.rank_of(domain.rank()) else { return Ok(mpi::MPI_COMM_NULL) };
    let context = context::agree(domain, parent, group, rank, channel, choice)?;
    let mut comm = parent.child(Context::new(context, rank, domain.vnis()), group.clone());
    furnish(&mut comm);
    Ok(insert(comm))
}
