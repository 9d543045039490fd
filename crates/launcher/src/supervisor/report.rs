//! What the launcher says.

use std::io::{self, Write};
use std::time::Duration;

use heddle_bootstrap::RankState;
use nix::unistd::{Pid, gethostname};

use super::Supervisor;
use crate::activity;
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

    /// Says that the time limit is over, and what each rank is doing.
    pub(super) fn say_limit(&mut self, limit: Duration) {
        let mut text = format!("the job has run for {} s, its time limit, and is ended", limit.as_secs_f64());
        for (index, rank) in self.ranks.iter().enumerate() {
            let entry = self.job.entry(rank.rank);
            let how_far = match entry.state {
                RankState::Absent => "has not called MPI_Init",
                RankState::Initialised => "is between MPI_Init and MPI_Finalize",
                RankState::InSessions => "has sessions",
                RankState::Finalised | RankState::Left => "has left MPI",
                RankState::Aborted => "has called MPI_Abort",
            };
            let pid = entry.pid.map_or(rank.group(), |pid| Pid::from_raw(pid.cast_signed()));
            let doing = if rank.is_running() { activity::of(pid) } else { None };
            let doing = doing.unwrap_or_else(|| "it has ended".to_owned());
            text.push_str(&format!("\nmpiexec:   {} {how_far}: {doing}", self.name(index, pid)));
        }
        self.say(&text);
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
