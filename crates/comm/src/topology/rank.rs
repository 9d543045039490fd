//! The error for a rank that a topology does not have.

use crate::error::Error;
use heddle_spec::constants as mpi;

/// A rank that does not exist in a topology.
#[cold]
pub fn bad_rank(rank: i32, size: usize) -> Error {
    let message = format!("there is no rank {rank}: the topology's {size} ranks go from 0 to {}", size - 1);
    Error::new(mpi::MPI_ERR_RANK, message)
}
