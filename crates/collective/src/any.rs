//! A question to all processes, which is true if it is in any.

use crate::allreduce::allreduce;
use crate::data::{Part, Reduction};
use crate::form::run;
use heddle_comm::CommRef;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_comm::op::OpRef;
use heddle_datatype::types;
use heddle_spec::constants as mpi;

/// Returns true, in all processes, if `mine` is true in any. Waits until all have called this.
///
/// # Errors
/// Those of the messages.
pub fn any(comm: &CommRef, mine: bool) -> Result<bool> {
    let (or, flag, mut any) =
        (OpRef::from_handle(mpi::MPI_LOR)?, TypeInUse::predefined(&types::MPI_C_BOOL), mine);
    let reduction = Reduction::new(&or, &flag, mpi::MPI_C_BOOL)?;
    // SAFETY: the flag outlives the call.
    let part = unsafe { Part::new((&raw mut any).cast(), 1, &flag) }?;
    run(comm, |talk| allreduce(talk, &reduction, None, part))?;
    Ok(any)
}
