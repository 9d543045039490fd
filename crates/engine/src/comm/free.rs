//! The end of a communicator.

use super::{COMMS, CommRef, bad_handle, lingering};
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;

/// `MPI_Comm_free`: the handle dies. Operations that are under way go on to their ends: they hold a reference, or need
/// the context alone, which is never used again; their errors find the communicator in `lingering.rs`.
///
/// # Errors
/// `MPI_ERR_COMM` for anything that is not a live communicator's handle, and for the predefined ones; what a delete
/// callback says, and then the communicator lives on.
pub fn free(handle: usize) -> Result<()> {
    let comm = CommRef::from_handle(handle)?;
    check_not_predefined(&comm)?;
    comm.attributes.delete_all(handle)?;
    // Of two threads that free one communicator, one gets here with a dead handle.
    let freed = COMMS.remove(handle).ok_or_else(|| bad_handle(handle))?;
    lingering::keep_while_requested(CommRef::from((handle, freed)));
    Ok(())
}

/// `MPI_Comm_disconnect`: frees the communicator when all its processes have come so far. The program has completed
/// its own operations before.
///
/// # Errors
/// As [`free`].
pub fn disconnect(handle: usize) -> Result<()> {
    let comm = CommRef::from_handle(handle)?;
    check_not_predefined(&comm)?;
    crate::collective::barrier(&comm)?;
    free(handle)
}

fn check_not_predefined(comm: &CommRef) -> Result<()> {
    if comm.is_predefined() {
        let message = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed: they live until MPI_Finalize";
        return Err(Error::new(mpi::MPI_ERR_COMM, message));
    }
    Ok(())
}
