//! Memory that the processes of a window can map.

use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_transport::SharedMemory;
use std::io;

/// Allocates memory for the library.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(crate) fn allocate(domain: &Domain, len: usize) -> Result<SharedMemory> {
    domain.fabric().allocate(len).map_err(|error| no_memory(len, &error))
}

/// Allocates memory for the program, whose pages get their memory when they are touched.
///
/// # Errors
/// `MPI_ERR_NO_MEM`, if there can be no such memory.
pub(crate) fn allocate_untouched(domain: &Domain, len: usize) -> Result<SharedMemory> {
    domain.fabric().allocate_untouched(len).map_err(|error| no_memory(len, &error))
}

#[cold]
pub(crate) fn no_memory(len: usize, error: &io::Error) -> Error {
    let message = format!("there are no {len} bytes of memory to share with other processes: {error}");
    Error::new(mpi::MPI_ERR_NO_MEM, message)
}
