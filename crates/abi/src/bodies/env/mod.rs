//! Environmental management.
//!
//! | file | functions |
//! |---|---|
//! | `errhandler.rs` | error handlers |
//! | `error_code.rs` | error classes, codes and texts |
//! | `memory.rs` | memory |

mod errhandler;
mod error_code;
mod memory;

pub(crate) use errhandler::*;
pub(crate) use error_code::*;
pub(crate) use memory::*;

use crate::argument::{List, Out, StatusOut, TextOut};
use crate::error::Result;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::clock;
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use std::ffi::c_int;

pub(crate) fn get_version(version: Out<c_int>, subversion: Out<c_int>) -> Result<()> {
    version.set(mpi::MPI_VERSION)?;
    subversion.set(mpi::MPI_SUBVERSION)
}

pub(crate) fn get_library_version(version: TextOut, length: Out<c_int>) -> Result<()> {
    let text = concat!("Heddle ", env!("CARGO_PKG_VERSION"));
    length.set(version.set(text, mpi::MPI_MAX_LIBRARY_VERSION_STRING)?)
}

/// Heddle has no profiling that the program could control.
pub(crate) fn pcontrol(_level: c_int) -> Result<()> {
    Ok(())
}

pub(crate) fn status_get_error(status: List<'_, Status>, error: Out<c_int>) -> Result<()> {
    error.set(status.only()?.error)
}

pub(crate) fn status_set_error(status: StatusOut, error: c_int) -> Result<()> {
    status.update(|status| status.error = error)
}

/// The time from which `MPI_Wtime` counts, in nanoseconds, so that a `double` tells
/// nanoseconds apart for long.
static START_NS: AtomicU64 = AtomicU64::new(0);

/// Seconds since the first call.
pub(crate) fn wtime() -> f64 {
    let now = clock::now_ns();
    let start = match START_NS.load(Ordering::Relaxed) {
        0 => match START_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => now,
            Err(first) => first,
        },
        start => start,
    };
    now.saturating_sub(start) as f64 * 1e-9
}

pub(crate) fn wtick() -> f64 {
    1e-9
}

pub(crate) fn get_processor_name(name: TextOut, length: Out<c_int>) -> Result<()> {
    let mut host = [0u8; mpi::MPI_MAX_PROCESSOR_NAME as usize];
    // SAFETY: the array has the length that is passed with it.
    let failed = unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len()) } != 0;
    let end = host.iter().position(|&byte| byte == 0).unwrap_or(host.len());
    let text = if failed { "localhost".into() } else { String::from_utf8_lossy(&host[..end]) };
    length.set(name.set(&text, mpi::MPI_MAX_PROCESSOR_NAME)?)
}
