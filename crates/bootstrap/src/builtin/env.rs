//! The environment variables that `mpiexec` hands to each rank.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::str::FromStr;

use crate::BootstrapError;
use crate::control::MAX_SIZE;

/// The rank of the process: 0 to size - 1.
pub const RANK: &str = "HEDDLE_RANK";
/// The number of ranks in the job.
pub const SIZE: &str = "HEDDLE_SIZE";
/// Which program of the command line the process runs, counted from 0.
pub const APPNUM: &str = "HEDDLE_APPNUM";
/// The inherited descriptor of the job's memory file.
pub const JOB_FD: &str = "HEDDLE_JOB_FD";
/// A path to the same file, for a rank whose wrapper closed the descriptor.
pub const JOB_PATH: &str = "HEDDLE_JOB_PATH";
/// A name for the job that no other job on the machine has; the launcher knows its processes by it.
pub const JOB_ID: &str = "HEDDLE_JOB_ID";
/// The error handler that the command line names for the start; absent otherwise.
pub const INITIAL_ERRHANDLER: &str = "HEDDLE_INITIAL_ERRHANDLER";
/// The kinds of memory that the command line asks for; absent otherwise.
pub const MEMORY_ALLOC_KINDS: &str = "HEDDLE_MEMORY_ALLOC_KINDS";

/// The variables of the contract, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// `HEDDLE_RANK`.
    pub rank: u32,
    /// `HEDDLE_SIZE`.
    pub size: u32,
    /// `HEDDLE_APPNUM`.
    pub appnum: Option<u32>,
    /// `HEDDLE_JOB_FD`.
    pub job_fd: RawFd,
    /// `HEDDLE_JOB_PATH`.
    pub job_path: Option<PathBuf>,
}

impl Contract {
    /// Reads the contract through `lookup`; `None` when there is no `HEDDLE_RANK`.
    ///
    /// # Errors
    /// When a variable is missing or has an impossible value.
    pub fn read(lookup: impl Fn(&'static str) -> Option<OsString>) -> Result<Option<Self>, BootstrapError> {
        if lookup(RANK).is_none() {
            return Ok(None);
        }
        let (rank, size) = rank_and_size(&lookup, (RANK, SIZE), MAX_SIZE)?;
        let appnum = match lookup(APPNUM) {
            None => None,
            Some(_) => Some(number::<u32>(&lookup, APPNUM, "a number from 0 to 2147483647", |n| {
                i32::try_from(n).is_ok()
            })?),
        };
        let job_fd =
            number::<RawFd>(&lookup, JOB_FD, "an open descriptor's number, 0 or more", |fd| fd >= 0)?;
        Ok(Some(Self { rank, size, appnum, job_fd, job_path: lookup(JOB_PATH).map(PathBuf::from) }))
    }
}

/// Reads the variables of these names, which hold the rank of the process and the number of ranks, at most
/// `most`.
pub(crate) fn rank_and_size(
    lookup: &impl Fn(&'static str) -> Option<OsString>,
    (rank, size): (&'static str, &'static str),
    most: u32,
) -> Result<(u32, u32), BootstrapError> {
    let ranks =
        number::<u32>(lookup, size, &format!("a number from 1 to {most}"), |n| (1..=most).contains(&n))?;
    let allowed = format!("a number from 0 to {} ({size} is {ranks})", ranks - 1);
    Ok((number::<u32>(lookup, rank, &allowed, |n| n < ranks)?, ranks))
}

/// Reads a variable that has to hold a number that fits.
pub(crate) fn number<T: FromStr + Copy>(
    lookup: &impl Fn(&'static str) -> Option<OsString>,
    name: &'static str,
    allowed: &str,
    fits: impl Fn(T) -> bool,
) -> Result<T, BootstrapError> {
    let value = lookup(name).ok_or(BootstrapError::Missing { name })?;
    value.to_str().and_then(|text| text.parse().ok()).filter(|&number| fits(number)).ok_or_else(|| {
        BootstrapError::Variable {
            name,
            value: value.to_string_lossy().into_owned(),
            allowed: allowed.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&'static str, &str)]) -> Result<Option<Contract>, BootstrapError> {
        Contract::read(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn no_rank_is_no_job() {
        assert_eq!(read(&[(SIZE, "4")]).expect("no rank, no contract"), None);
    }

    #[test]
    fn a_whole_contract() {
        let contract =
            read(&[(RANK, "3"), (SIZE, "4"), (APPNUM, "1"), (JOB_FD, "7"), (JOB_PATH, "/proc/1/fd/7")]);
        let expected =
            Contract { rank: 3, size: 4, appnum: Some(1), job_fd: 7, job_path: Some("/proc/1/fd/7".into()) };
        assert_eq!(contract.expect("valid"), Some(expected));
    }

    #[test]
    fn errors_name_the_variable_and_what_it_may_hold() {
        for (set, name, says) in [
            (&[(RANK, "0")][..], SIZE, "missing"),
            (&[(RANK, "0"), (SIZE, "0")], SIZE, "1 to"),
            (&[(RANK, "0"), (SIZE, "two")], SIZE, "\"two\""),
            (&[(RANK, "4"), (SIZE, "4")], RANK, "0 to 3"),
            (&[(RANK, "-1"), (SIZE, "4")], RANK, "0 to 3"),
            (&[(RANK, ""), (SIZE, "4")], RANK, "0 to 3"),
            (&[(RANK, "0"), (SIZE, "1")], JOB_FD, "missing"),
            (&[(RANK, "0"), (SIZE, "1"), (JOB_FD, "-3")], JOB_FD, "descriptor"),
            (&[(RANK, "0"), (SIZE, "1"), (JOB_FD, "3"), (APPNUM, "x")], APPNUM, "2147483647"),
        ] {
            let text = read(set).expect_err("must be refused").to_string();
            assert!(text.contains(name) && text.contains(says), "{set:?} gave: {text}");
        }
    }
}
