//! Looking up the objects that C names by numbers.

use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::constants as mpi;

/// The number of initialisations of MPI_T that are not finalized.
pub(crate) static INITIALISED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn error(class: i32, what: impl Into<String>) -> Error {
    Error::new(class, what.into())
}

/// Checks that MPI_T is initialised.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`.
pub fn check() -> Result<()> {
    if INITIALISED.load(Ordering::Acquire) != 0 {
        return Ok(());
    }
    Err(error(
        mpi::MPI_T_ERR_NOT_INITIALIZED,
        "the tools interface is not initialised: call MPI_T_init_thread first",
    ))
}

/// The element of that index.
///
/// # Errors
/// `MPI_T_ERR_INVALID_INDEX`.
pub fn at<T>(all: &[T], index: i32) -> Result<&T> {
    usize::try_from(index).ok().and_then(|index| all.get(index)).ok_or_else(|| {
        error(
            mpi::MPI_T_ERR_INVALID_INDEX,
            format!("there is no index {index}: they go from 0 to below {}", all.len()),
        )
    })
}

/// The index of the element that fits.
///
/// # Errors
/// `MPI_T_ERR_INVALID_NAME`.
pub fn index_of<T>(all: &[T], name: &str, fits: impl Fn(&T) -> bool) -> Result<i32> {
    match all.iter().position(fits) {
        Some(index) => Ok(index as i32),
        None => Err(error(mpi::MPI_T_ERR_INVALID_NAME, format!("nothing of that kind is called \"{name}\""))),
    }
}
