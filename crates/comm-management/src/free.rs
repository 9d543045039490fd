//! The end of a communicator.

use heddle_comm::error::{Error, Result};
use heddle_comm::lifetime;
use heddle_comm::{COMMS, CommRef, bad_handle};
use heddle_spec::constants as mpi;

/// `MPI_Comm_free`: the handle becomes invalid. Operations in flight complete, and their errors still reach
/// the communicator's error handler, because the communicator exists as long as they use it (`lifetime`).
///
/// # Errors
/// `MPI_ERR_COMM` for anything that is not a live communicator's handle, and for the predefined ones; the
/// error of a delete callback, and then the communicator lives on.
pub fn free(handle: usize) -> Result<()> {
    let comm = CommRef::from_handle(handle)?;
    check_not_predefined(&comm)?;
    comm.attributes.delete_all(handle)?;
    // If two threads free one communicator, one of them gets here with a dead handle.
    let freed = COMMS.remove(handle).ok_or_else(|| bad_handle(handle))?;
    drop(comm);
    lifetime::user_released(handle, freed);
    Ok(())
}

/// `MPI_Comm_disconnect`: frees the communicator when all its processes have called it. The program has
/// completed its operations before.
///
/// # Errors
/// The same as for [`free`].
pub fn disconnect(handle: usize) -> Result<()> {
    let comm = CommRef::from_handle(handle)?;
    check_not_predefined(&comm)?;
    heddle_collective::run(&comm, heddle_collective::barrier)?;
    free(handle)
}

fn check_not_predefined(comm: &CommRef) -> Result<()> {
    if comm.is_predefined() {
        let message = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed: they live until MPI_Finalize";
        return Err(Error::new(mpi::MPI_ERR_COMM, message));
    }
    Ok(())
}

/// Deletes the attributes of `MPI_COMM_SELF`, the one set last first, as the first thing in `MPI_Finalize`
/// (MPI 5.0, section 11.2.4), and then those of `MPI_COMM_WORLD`.
///
/// # Errors
/// That of the first callback that fails.
pub fn run_delete_callbacks_of_predefined() -> Result<()> {
    CommRef::comm_self()?.attributes.delete_all(mpi::MPI_COMM_SELF)?;
    CommRef::world()?.attributes.delete_all(mpi::MPI_COMM_WORLD)
}
