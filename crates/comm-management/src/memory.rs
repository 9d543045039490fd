//! A lack of memory in one process fails the call in all of them, so that none waits for a message of one
//! that has given up, and none has a communicator of which another one knows nothing.

use heddle_collective::any;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_spec::constants as mpi;

/// Returns what this process has made, if no process of the communicator lacks memory for it. All processes
/// call it. One with another error returns at once, since the others find the same fault in their arguments.
///
/// # Errors
/// This process's; `MPI_ERR_NO_MEM` if another one lacks memory.
pub(crate) fn if_all<T>(comm: &CommRef, made: Result<T>) -> Result<T> {
    let lacks = made.as_ref().is_err_and(|error| error.code() == mpi::MPI_ERR_NO_MEM);
    if made.is_err() && !lacks {
        return made;
    }
    comm.check_intra()?;
    if any(comm, lacks)? && !lacks {
        let message = "another process of the communicator has no memory for its part, and has reported it";
        return Err(Error::new(mpi::MPI_ERR_NO_MEM, message));
    }
    made
}
