//! The mechanism of the launchers that speak PMI-1 or PMI-2 over a descriptor: MPICH's Hydra, Slurm
//! (`srun --mpi=pmi2`), and others.
//!
//! The launcher hands each rank its number, the size of the job and a descriptor (`PMI_RANK`, `PMI_SIZE`,
//! `PMI_FD`), over which they talk: they agree on a version (`channel.rs`), PMI-1 (`wire1.rs`) or PMI-2
//! (`wire2.rs`). The launcher also says which ranks it has started on which node (`process_mapping.rs`).
//!
//! Hydra speaks both, and so does Slurm. The rank proposes PMI-2 first if there is `PMI_JOBID`, which Slurm
//! sets, and PMI-1 otherwise, the version that most programs under Hydra speak.

mod channel;
mod process_mapping;
#[cfg(test)]
mod scripted;
mod wire;
mod wire1;
mod wire2;

use crate::BootstrapError;
use crate::builtin::env::{number, rank_and_size};
use crate::external::ExternalJoining;
use channel::Channel;
pub(crate) use channel::Version;
use std::ffi::OsString;
use std::os::fd::RawFd;
use wire::Wire;
use wire1::Wire1;
use wire2::Wire2;

/// The rank of the process: 0 to size - 1.
pub const RANK: &str = "PMI_RANK";
/// The number of ranks in the job.
pub const SIZE: &str = "PMI_SIZE";
/// The descriptor of the connection to the launcher.
pub const FD: &str = "PMI_FD";

/// The launcher's name for the job, which PMI-2 hands back to it.
const JOB: &str = "PMI_JOBID";

/// The variables of the launcher, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PmiContract {
    rank: u32,
    size: u32,
    fd: RawFd,
    job: Option<String>,
}

impl PmiContract {
    /// Reads the variables through `lookup`; `None` when there is no `PMI_FD`.
    ///
    /// # Errors
    /// When a variable is missing or has an impossible value.
    pub(crate) fn read(
        lookup: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Option<PmiContract>, BootstrapError> {
        if lookup(FD).is_none() {
            return Ok(None);
        }
        let fd = number::<RawFd>(&lookup, FD, "an open descriptor's number, 0 or more", |fd| fd >= 0)?;
        let (rank, size) = rank_and_size(&lookup, (RANK, SIZE), i32::MAX as u32)?;
        let job = lookup(JOB).map(|job| job.to_string_lossy().into_owned()).filter(|job| !job.is_empty());
        Ok(Some(PmiContract { rank, size, fd, job }))
    }

    /// The versions of PMI to propose if none was asked for, the best one first.
    pub(crate) fn versions(&self) -> &'static [Version] {
        if self.job.is_some() { &[Version::Two, Version::One] } else { &[Version::One] }
    }
}

/// Begins to speak with the launcher, in the first of the versions that it speaks, too.
///
/// # Errors
/// When it does not answer as it should.
pub(crate) fn begin(contract: &PmiContract, versions: &[Version]) -> Result<ExternalJoining, BootstrapError> {
    let mut channel = Channel::open(contract.fd)?;
    match channel.agree(versions)? {
        Version::One => joining(contract, Wire1::begin(channel)?),
        Version::Two => joining(contract, Wire2::begin(channel, contract.rank, contract.job.as_deref())?),
    }
}

fn joining(contract: &PmiContract, mut wire: impl Wire) -> Result<ExternalJoining, BootstrapError> {
    let &PmiContract { rank, size, .. } = contract;
    let appnum = wire.appnum()?;
    let words = wire.find(process_mapping::NAME)?;
    let beside = words.and_then(|words| process_mapping::ranks_beside(&words, rank, size));
    Ok(ExternalJoining { rank, size, appnum, beside }.over(wire))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&'static str, &str)]) -> Result<Option<PmiContract>, BootstrapError> {
        PmiContract::read(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn no_descriptor_is_no_job() {
        assert_eq!(read(&[(RANK, "0"), (SIZE, "4")]).expect("no descriptor, no contract"), None);
    }

    #[test]
    fn a_job_that_has_a_name_may_speak_version_2() {
        let contract = |job| {
            let set = [(FD, "5"), (RANK, "1"), (SIZE, "2"), (JOB, job)];
            read(&set).expect("valid").expect("a contract")
        };
        assert_eq!(contract("2.0").versions(), [Version::Two, Version::One]);
        assert_eq!(contract("").versions(), [Version::One]);
    }

    #[test]
    fn a_job_may_have_more_ranks_than_the_memory_of_a_machine() {
        let contract = read(&[(FD, "5"), (RANK, "999999"), (SIZE, "1000000")]).expect("valid");
        assert_eq!(contract.expect("a contract").size, 1_000_000);
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
