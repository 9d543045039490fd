//! MPI_T: the variables that a program or a tool can look at and set.
//!
//! | file | idea |
//! |---|---|
//! | `control.rs` | control variables: every setting and every part of the model |
//! | `performance.rs` | performance variables: what is [counted](heddle_model::counters) |
//! | `value.rs` | the values of both, as C sees them |
//! | `category.rs` | what belongs together |
//! | `session.rs` | sessions and handles |
//!
//! Nothing here holds a lock that a call of MPI needs, and reading costs those who count nothing. Whatever number
//! comes from C is looked up: one that leads nowhere is an error.

mod category;
mod control;
mod performance;
mod session;
mod value;

pub use category::{CATEGORIES, Category};
pub use control::{Control, controls};
pub use performance::{Class, Performance, performances};
pub use session::{
    Operation, allocate_control, allocate_performance, control_of, create_session, free_control,
    free_performance, free_session, operate, read, write,
};
pub use value::{Type, Value};

use crate::error::{Error, Result};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::constants as mpi;

/// How often MPI_T was initialised and not finalized.
static INITIALISED: AtomicUsize = AtomicUsize::new(0);

fn error(class: i32, what: impl Into<String>) -> Error {
    Error::new(class, what.into())
}

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

/// Whether MPI_T may be used.
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
