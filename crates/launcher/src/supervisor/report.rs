//! What the launcher says.

use std::io::{self, Write};

use nix::unistd::{Pid, gethostname};

use super::Supervisor;
use crate::output::Source;
use crate::processes::Process;
use crate::verdict::Failure;

impl Supervisor {
    /// Says something on standard error, between the lines of the ranks.
    pub(super) fn say(&mut self, text: &str) {
        self.sinks.err().put(Source::Launcher, format!("mpiexec: {text}\n").as_bytes());
    }

    /// Says something on standard error when that goes through no sink any more.
    pub(super) fn say_directly(&self, text: &str) {
        // If this fails too, the exit status has to say it.
        let _ = writeln!(io::stderr(), "mpiexec: {text}");
    }

    /// Says which rank has failed, and how.
    pub(super) fn say_failure(&mut self, index: usize, pid: Pid, failure: &Failure) {
        let rank = self.name(index, pid);
        self.say(&format!("{rank} {failure}; the job is ended"));
    }

    /// Says which rank had a code other than 0 after it was done with MPI.
    pub(super) fn say_late(&mut self) {
        let Some(&(index, code)) = self.late.iter().max_by_key(|(_, code)| *code) else { return };
        let rank = self.name(index, self.ranks[index].group());
        let others = match self.late.len() - 1 {
            0 => String::new(),
            more => format!("; {more} more ended with a code other than 0"),
        };
        self.say(&format!("{rank} exited with code {code} after MPI_Finalize{others}"));
    }

    /// Says which processes were left running.
    pub(super) fn say_left(&mut self, left: &[Process], what: &str) {
        let names: Vec<String> =
            left.iter().map(|process| format!("{} (pid {})", process.name, process.pid)).collect();
        self.say(&format!("left running by the ranks and {what}: {}", names.join(", ")));
    }

    fn name(&self, index: usize, pid: Pid) -> String {
        let rank = &self.ranks[index];
        let host = gethostname().unwrap_or_default();
        format!("rank {} (pid {pid} on {}, {})", rank.rank, host.to_string_lossy(), rank.program)
    }
}
