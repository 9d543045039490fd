//! Files. MPI-IO is not built yet, so there is no file but `MPI_FILE_NULL`, which has the error handler of
//! calls without a file (MPI 5.0, section 14.7).

use heddle_comm::errhandler::ErrhandlerCell;
use heddle_comm::error::{Error, Result};
use heddle_spec::constants as mpi;

static OF_NULL: ErrhandlerCell = ErrhandlerCell::new(mpi::MPI_ERRORS_RETURN);

/// The error handler of `MPI_FILE_NULL`.
pub fn default_errhandler() -> &'static ErrhandlerCell {
    &OF_NULL
}

/// The error handler of a file.
///
/// # Errors
/// `MPI_ERR_FILE` for anything but `MPI_FILE_NULL`.
pub fn errhandler_of(file: usize) -> Result<&'static ErrhandlerCell> {
    if file == mpi::MPI_FILE_NULL {
        return Ok(&OF_NULL);
    }
    let message = format!("{file:#x} is not a file: no file was opened, since MPI-IO is not built yet");
    Err(Error::new(mpi::MPI_ERR_FILE, message))
}
