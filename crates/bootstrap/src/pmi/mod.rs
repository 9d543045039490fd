//! The mechanism of the launchers that speak PMI-1: MPICH's Hydra, and others by the same descriptor.
//!
//! The launcher hands each rank its number, the size of the job and a descriptor (`PMI_RANK`, `PMI_SIZE`,
//! `PMI_FD`). Over it ranks exchange words by name, wait for each other, and say that they end (`wire.rs`).
//! There is no launcher of ours that could make the memory of a machine's ranks, so each rank makes some, and
//! that of the lowest rank of the machine is taken; it lies behind a descriptor of that rank, which the
//! others open through `/proc`. Like the memory that `mpiexec` makes, it has no name, and goes away with the
//! last process that has it open.
//!
//! ```text
//!   the lowest rank of a machine   another rank of the machine
//!   makes memory                   makes memory
//!   puts host, machine, process, descriptor: both do, and their addresses in the network
//!   ---------------------- fence: all ranks of the job ----------------------
//!   get the words of the ranks that may be on the same machine
//!   keeps its memory               gives up its own, opens that of the lowest rank, counts itself in
//!   ...                            ...
//!   ends: waits until all have counted themselves in, since the descriptor ends with it
//! ```
//!
//! Ranks on several machines meet once more when they finalize MPI (`finish_together`).
//!
//! Which ranks may be on the same machine is what the launcher says (`process_mapping.rs`); all, if it says
//! nothing. Addresses are fetched when a rank first sends to another.
//!
//! The launcher supervises: it ends the job when a process dies, or says over the descriptor that it aborts.
//! All ranks have to initialise MPI, since the fence waits for them.

mod place;
mod process_mapping;
mod wire;

use crate::builtin::env::{number, rank_and_size};
use crate::job::MadeHere;
use crate::{BootstrapError, Job, JobControl, LocalRanks, World};
use place::Place;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};
use wire::Wire;

/// The rank of the process: 0 to size - 1.
pub const RANK: &str = "PMI_RANK";
/// The number of ranks in the job.
pub const SIZE: &str = "PMI_SIZE";
/// The descriptor of the connection to the launcher.
pub const FD: &str = "PMI_FD";

/// The launcher's words on which rank runs on which node.
const MAPPING: &str = "PMI_process_mapping";

/// The name of the word that says where a rank runs.
fn place_name(rank: u32) -> String {
    format!("heddle-{rank}")
}

/// The name of a word that a rank leaves for the others.
fn word_name(rank: u32, index: usize) -> String {
    format!("heddle-{rank}-{index}")
}

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

/// A process that has begun to speak with its launcher.
#[derive(Debug)]
pub(crate) struct Joining {
    contract: Contract,
    appnum: Option<u32>,
    /// The ranks that may be on the same machine, in ascending order; `None` if the launcher does not say.
    beside: Option<Vec<u32>>,
}

fn launcher() -> MutexGuard<'static, Option<Wire>> {
    LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exchanges words with the launcher.
fn with_launcher<R>(
    exchange: impl FnOnce(&mut Wire) -> Result<R, BootstrapError>,
) -> Result<R, BootstrapError> {
    match launcher().as_mut() {
        Some(wire) => exchange(wire),
        None => Err(BootstrapError::Launcher { what: "this process has said that it ends".to_owned() }),
    }
}

impl Joining {
    pub(crate) fn begin(contract: Contract) -> Result<Joining, BootstrapError> {
        let wire = Wire::open(contract.fd)?;
        *launcher() = Some(wire);
        with_launcher(|wire| {
            let appnum = wire.appnum()?;
            let words = wire.find(MAPPING)?;
            let beside =
                words.and_then(|words| process_mapping::ranks_beside(&words, contract.rank, contract.size));
            Ok(Joining { contract, appnum, beside })
        })
    }

    pub(crate) fn spans_machines(&self) -> Option<bool> {
        self.beside.as_ref().map(|beside| beside.len() < self.contract.size as usize)
    }

    pub(crate) fn publish(&self, index: usize, word: &str) -> Result<(), BootstrapError> {
        with_launcher(|wire| wire.put(&word_name(self.contract.rank, index), word))
    }

    pub(crate) fn join(self) -> Result<World, BootstrapError> {
        let Contract { rank, size, .. } = self.contract;
        let made = JobControl::create(size)?;
        let here = Place::of(&made);
        let beside = self.beside.unwrap_or_else(|| (0..size).collect());
        let places = with_launcher(|wire| {
            wire.put(&place_name(rank), &here.to_string())?;
            wire.fence()?;
            let others = beside.into_iter().filter(|&other| other != rank);
            others.map(|other| Ok((other, Place::parse(&wire.get(&place_name(other))?)?))).collect()
        });
        let mut places: Vec<(u32, Place)> = places?;
        places.retain(|(_, place)| place.is_beside(&here));
        let (lower, higher): (Vec<u32>, Vec<u32>) =
            places.iter().map(|(other, _)| *other).partition(|&other| other < rank);
        let local = LocalRanks::of([lower, vec![rank], higher].concat());
        let (file, expects) = match places.first() {
            Some((lowest, place)) if *lowest < rank => (place.open(rank)?, 0),
            _ => (made.into_file(), local.len() as u32),
        };
        let finish = if local.len() < size as usize { finish_together } else { finish };
        let job = Job::made_here(file, rank, size, MadeHere { expects, finish, finish_at_exit })?;
        Ok(World { rank, size, appnum: self.appnum, job: Some(job), local })
    }
}

/// The word that a rank has left for the others.
pub(crate) fn word_of(rank: u32, index: usize) -> Result<String, BootstrapError> {
    with_launcher(|wire| wire.get(&word_name(rank, index)))
}

/// The host on which a rank runs.
pub(crate) fn host_of(rank: u32) -> Option<String> {
    let place = with_launcher(|wire| wire.get(&place_name(rank))).ok()?;
    Place::parse(&place).ok().map(|place| place.host().to_owned())
}

/// Says that this process needs neither the launcher nor the other ranks any more. The first call counts.
fn finish() {
    if let Some(wire) = launcher().take() {
        // A launcher that has gone does not need to know.
        let _ = wire.finish();
    }
}

/// Does the same as [`finish`], once all ranks of the job have come so far: what they have sent each other
/// over the network may still be on its way, and goes with a process that ends.
fn finish_together() {
    if let Some(wire) = launcher().as_mut() {
        // If the launcher has gone, there is nobody to wait for.
        let _ = wire.fence();
    }
    finish();
}

/// Does the same as [`finish`] when the process ends.
fn finish_at_exit() {
    extern "C" fn at_exit() {
        finish();
    }
    static ONCE: Once = Once::new();
    // SAFETY: the function lives as long as the process. If there is no room for it, the launcher takes the
    // end for a failure.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
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
