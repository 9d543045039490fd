//! Operations that make a communicator of the kind of their parent.

use crate::{create as intra_create, dup as intra_dup, intercomm, split as intra_split};
use heddle_comm::CommRef;
use heddle_comm::error::Result;
use heddle_comm::group::Group;
use heddle_comm::info::Entries;
use heddle_message::domain;
use std::sync::Arc;

/// `MPI_Comm_dup`.
///
/// # Errors
/// The error of a copy callback; `MPI_ERR_OTHER` if the leader has no number left for a context.
pub fn dup(comm: &CommRef) -> Result<usize> {
    if comm.is_inter() { intercomm::dup(comm, &Entries::new()) } else { intra_dup::dup(comm) }
}

/// `MPI_Comm_dup_with_info`.
///
/// # Errors
/// The same as for [`dup`].
pub fn dup_with_info(comm: &CommRef, hints: &Entries) -> Result<usize> {
    if comm.is_inter() { intercomm::dup(comm, hints) } else { intra_dup::dup_with_info(comm, hints) }
}

/// `MPI_Comm_create`: called by all members of the parent; the groups of two callers are equal or disjoint. A
/// caller that is not in its group gets `MPI_COMM_NULL` at once.
///
/// # Errors
/// `MPI_ERR_GROUP` if the group is not within the parent's, or the local one of an intercommunicator;
/// `MPI_ERR_OTHER` if the leader has no number left for a context.
pub fn create(parent: &CommRef, group: &Arc<Group>) -> Result<usize> {
    if parent.is_inter() { intercomm::create(parent, group) } else { intra_create::create(parent, group) }
}

/// `MPI_Comm_split`; `MPI_COMM_NULL` for the colour `MPI_UNDEFINED`, and where the other group of an
/// intercommunicator has no process of the colour.
///
/// # Errors
/// `MPI_ERR_ARG` for a negative colour.
pub fn split(comm: &CommRef, colour: i32, key: i32) -> Result<usize> {
    intra_split::check_colour(colour)?;
    if comm.is_inter() {
        intercomm::split(comm, colour, key)
    } else {
        intra_split::split(comm, colour, key, &Entries::new())
    }
}

/// `MPI_Comm_split_type`.
///
/// # Errors
/// `MPI_ERR_ARG` for a split type that does not exist.
pub fn split_type(comm: &CommRef, split_type: i32, key: i32, hints: &Entries) -> Result<usize> {
    let colour = intra_split::colour_of_type(domain::current()?, comm, split_type, hints)?;
    if comm.is_inter() {
        intercomm::split(comm, colour, key)
    } else {
        intra_split::split(comm, colour, key, hints)
    }
}
