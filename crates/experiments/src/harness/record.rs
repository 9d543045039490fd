//! The part of a record that is about the run itself.

use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde::{Deserialize, Serialize};

use super::machine::Machine;

/// The version of Heddle that this program belongs to.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How, when and where a run was made.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunFacts {
    /// The command line.
    pub(crate) command: Vec<String>,
    /// When it began (UTC).
    pub(crate) started: String,
    /// True if everything was measured.
    pub(crate) complete: bool,
    /// The machine.
    pub(crate) machine: Machine,
}

impl RunFacts {
    /// Those of a run that has measured nothing yet.
    pub(crate) fn begin(started: SystemTime, machine: Machine) -> Self {
        Self { command: command_line(), started: utc(started), complete: false, machine }
    }
}

/// The command line of this process.
pub(crate) fn command_line() -> Vec<String> {
    std::env::args().collect()
}

/// A time as records have it.
pub(crate) fn utc(time: SystemTime) -> String {
    format_rfc3339_seconds(time).to_string()
}
