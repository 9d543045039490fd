//! Ending the processes that ranks have left running.
//!
//! When all ranks have ended, processes they started may still run: a `tee` at the end of a pipe that has not
//! finished, or a forgotten server. After a job that went well they get a moment to finish, then they are
//! asked to end, then killed; after a failure they are killed as soon as the ranks' time is over.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::processes::{self, Process};

/// How long they may take to finish by themselves, and again to finish when asked to.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long the launcher tries to kill them.
const LAST: Duration = Duration::from_secs(2);
/// How often the launcher looks for them.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Ends the processes that are left, step by step.
#[derive(Debug)]
pub(crate) struct Leftovers {
    step: Step,
    until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Waiting,
    Asked,
    Killing,
}

/// The result of one look.
#[derive(Debug)]
pub(crate) enum Remains {
    /// No process is left.
    Gone,
    /// Some are left; look again after [`LOOK`].
    Left,
    /// These are left, and have just been asked to end.
    Asked(Vec<Process>),
    /// These are left, and cannot be killed.
    Immortal(Vec<Process>),
}

impl Leftovers {
    /// After a job that went well.
    pub(crate) fn patient() -> Self {
        Self { step: Step::Waiting, until: Instant::now() + PATIENCE }
    }

    /// After a failure: processes that have been asked to end may take until `until`.
    pub(crate) fn impatient(until: Option<Instant>) -> Self {
        Self { step: Step::Asked, until: until.unwrap_or_else(Instant::now) }
    }

    /// Kill from the next look on.
    pub(crate) fn hurry(&mut self) {
        if self.step != Step::Killing {
            *self = Self::impatient(None);
        }
    }

    /// Looks which processes are left of the job `id` with the process groups `groups`, and
    /// takes the step that is due.
    pub(crate) fn look(&mut self, id: &str, groups: &[Pid]) -> Remains {
        let left = processes::of_job(id, groups);
        if left.is_empty() {
            return Remains::Gone;
        }
        let due = Instant::now() >= self.until;
        match (self.step, due) {
            (Step::Waiting, true) => {
                send(&left, Signal::SIGTERM);
                *self = Self { step: Step::Asked, until: Instant::now() + PATIENCE };
                return Remains::Asked(left);
            }
            (Step::Asked, true) => {
                send(&left, Signal::SIGKILL);
                *self = Self { step: Step::Killing, until: Instant::now() + LAST };
            }
            (Step::Killing, true) => return Remains::Immortal(left),
            // A parent may have had time for one more child.
            (Step::Killing, false) => send(&left, Signal::SIGKILL),
            (_, false) => {}
        }
        Remains::Left
    }
}

fn send(to: &[Process], signal: Signal) {
    for process in to {
        let _ = kill(process.pid, signal);
    }
}
