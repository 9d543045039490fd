//! Arguments of operations with a root: checks, and their errors.

use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_spec::constants as mpi;

/// The rank of the root.
///
/// # Errors
/// `MPI_ERR_ROOT`.
pub(super) fn check_root(comm: &CommRef, root: i32) -> Result<usize> {
    if (root as usize) < comm.size() {
        return Ok(root as usize);
    }
    let message = format!(
        "the root is {root}, but the communicator has {} processes: ranks go from 0 to {}",
        comm.size(),
        comm.size() - 1
    );
    Err(Error::new(mpi::MPI_ERR_ROOT, message))
}

#[cold]
pub(super) fn in_place_not_allowed(what: &str) -> Error {
    Error::new(mpi::MPI_ERR_BUFFER, format!("MPI_IN_PLACE is not allowed here: {what}"))
}

#[cold]
pub(super) fn no_buffer(what: &str) -> Error {
    Error::new(mpi::MPI_ERR_BUFFER, format!("the root has no {what} buffer"))
}
