//! Initialising and finalising MPI_T.

use crate::lookup::{INITIALISED, check};
use crate::session;
use heddle_message::error::Result;
use heddle_platform::atomic::Ordering;

/// Initialises MPI_T, once more.
pub fn initialize() {
    INITIALISED.fetch_add(1, Ordering::AcqRel);
}

/// Ends one initialisation. With the last one, handles and sessions end.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`.
pub fn finalize() -> Result<()> {
    let fewer = |count: usize| count.checked_sub(1);
    let before = INITIALISED.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer);
    match before {
        Ok(1) => session::end_all(),
        Ok(_) => {}
        Err(_) => return check(),
    }
    Ok(())
}
