//! The mechanism of the launchers that speak PMI-1: MPICH's Hydra, and others by the same descriptor.
//!
//! The launcher hands each rank its number, the size of the job and a descriptor (`PMI_RANK`, `PMI_SIZE`,
//! `PMI_FD`), over which they talk (`wire.rs`). It also says which ranks it has started on which node
//! (`process_mapping.rs`).

mod process_mapping;
mod wire;

use crate::BootstrapError;
use crate::builtin::env::{number, rank_and_size};
use crate::external::Joining;
use std::ffi::OsString;
use std::os::fd::RawFd;
use wire::Wire;

/// The rank of the process: 0 to size - 1.
pub const RANK: &str = "PMI_RANK";
/// The number of ranks in the job.
pub const SIZE: &str = "PMI_SIZE";
/// The descriptor of the connection to the launcher.
pub const FD: &str = "PMI_FD";

/// The launcher's words on which rank runs on which node.
const MAPPING: &str = "PMI_process_mapping";

/// The variables of the launcher, read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contract {
    rank: u32,
    size: u32,
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

/// Begins to speak with the launcher.
///
/// # Errors
/// When it does not answer as it should.
pub(crate) fn begin(contract: Contract) -> Result<Joining, BootstrapError> {
    let Contract { rank, size, fd } = contract;
    let mut wire = Wire::open(fd)?;
    let appnum = wire.appnum()?;
    let words = wire.find(MAPPING)?;
    let beside = words.and_then(|words| process_mapping::ranks_beside(&words, rank, size));
    Ok(Joining { rank, size, appnum, beside }.over(wire))
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
