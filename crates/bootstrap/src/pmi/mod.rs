//! The mechanism of the launchers that speak PMI-1: MPICH's Hydra, and others by the same descriptor.
//!
//! The launcher hands each rank its number, the size of the job and a descriptor (`PMI_RANK`, `PMI_SIZE`,
//! `PMI_FD`). Over it ranks exchange words by name, wait for each other, and say that they end (`wire.rs`).
//! There is no launcher of ours that could make the job's memory, so rank 0 makes it, and tells the others
//! where it is; it lies behind a descriptor of rank 0, which they open through `/proc`. Like the memory that
//! `mpiexec` makes, it has no name, and goes away with the last process of the job.
//!
//! ```text
//!   rank 0                         another rank
//!   makes the memory
//!   puts machine, process, descriptor
//!   ---------------------- fence ----------------------
//!                                  gets them, opens the memory, counts itself in
//!   ...                            ...
//!   ends: waits until all have counted themselves in, since the descriptor ends with it
//! ```
//!
//! The launcher supervises: it ends the job when a process dies, or says over the descriptor that it aborts.
//! All ranks have to initialise MPI, since the fence waits for them.

mod place;
mod wire;

use crate::builtin::env::{number, rank_and_size};
use crate::{BootstrapError, Job, JobControl};
use place::Place;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::Wire;

/// The rank of the process: 0 to size - 1.
pub const RANK: &str = "PMI_RANK";
/// The number of ranks in the job.
pub const SIZE: &str = "PMI_SIZE";
/// The descriptor of the connection to the launcher.
pub const FD: &str = "PMI_FD";

/// The name of the word that leads to the job's memory.
const PLACE: &str = "heddle-job";

/// The variables of the launcher, read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contract {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    fd: RawFd,
}

impl Contract {
    /// Reads the variables through `lookup`; `None` when there is no `PMI_FD`.
    ///
    /// # Errors
    /// When a variable is missing or has an impossible value.
    pub(crate) fn read(
        lookup: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Option<Contract>, BootstrapError> {
        if lookup(FD).is_none() {
            return Ok(None);
        }
        let fd = number::<RawFd>(&lookup, FD, "an open descriptor's number, 0 or more", |fd| fd >= 0)?;
        let (rank, size) = rank_and_size(&lookup, RANK, SIZE)?;
        Ok(Some(Contract { rank, size, fd }))
    }
}

/// The connection of this process to its launcher: `None` before the process joins the job, and after it has
/// said that it ends.
static LAUNCHER: Mutex<Option<Wire>> = Mutex::new(None);

/// Joins the job: returns its memory, and which program of the command line this is.
///
/// # Errors
/// When the launcher does not answer as PMI-1 does, or when rank 0 runs on another machine.
pub(crate) fn join(contract: Contract) -> Result<(Job, Option<u32>), BootstrapError> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let Contract { rank, size, fd } = contract;
    let wire = launcher.insert(Wire::open(fd)?);
    let appnum = wire.appnum()?;
    let made = if rank == 0 {
        let control = JobControl::create(size)?;
        wire.put(PLACE, &Place::of(&control).to_string())?;
        Some(control.into_file())
    } else {
        None
    };
    wire.fence()?;
    let file = match made {
        Some(file) => file,
        None => Place::parse(&wire.get(PLACE)?)?.open(rank)?,
    };
    Ok((Job::of_rank_0(file, rank, size, finish)?, appnum))
}

/// Says that this process needs neither the launcher nor the other ranks any more. The first call counts.
fn finish() {
    if let Some(wire) = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A launcher that has gone does not need to know.
        let _ = wire.finish();
    }
}

/// Has the launcher end the job with this exit status, once it has read what this process has printed. Does
/// nothing where no launcher has to be told.
pub fn end_job(status: i32) {
    // A thread that waits for the launcher's answer may have the lock for ever.
    if let Ok(mut launcher) = LAUNCHER.try_lock()
        && let Some(wire) = launcher.as_mut()
    {
        await_readers();
        // If it cannot be told, it learns of the end from the exit status.
        let _ = wire.abort(status);
    }
}

/// Waits until the pipes behind standard output and error are empty, for a second at most: a launcher that
/// ends a job forgets what it has not read.
fn await_readers() {
    let unread = |fd| {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the request stores one number.
        unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) == 0 && bytes > 0 }
    };
    let deadline = Instant::now() + Duration::from_secs(1);
    while (unread(libc::STDOUT_FILENO) || unread(libc::STDERR_FILENO)) && Instant::now() < deadline {
        // No event says that a pipe was read.
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&'static str, &str)]) -> Result<Option<Contract>, BootstrapError> {
        Contract::read(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn no_descriptor_is_no_job() {
        assert_eq!(read(&[(RANK, "0"), (SIZE, "4")]).expect("no descriptor, no contract"), None);
    }

    #[test]
    fn errors_name_the_variable_and_what_it_may_hold() {
        for (set, name, says) in [
            (&[(FD, "x")][..], FD, "descriptor"),
            (&[(FD, "5")], SIZE, "missing"),
            (&[(FD, "5"), (SIZE, "0")], SIZE, "1 to"),
            (&[(FD, "5"), (SIZE, "4"), (RANK, "4")], RANK, "0 to 3"),
        ] {
            let text = read(set).expect_err("must be refused").to_string();
            assert!(text.contains(name) && text.contains(says), "{set:?} gave: {text}");
        }
    }
}
