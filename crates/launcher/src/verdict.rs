//! What the end of a rank means for the job.

use std::fmt;

use heddle_bootstrap::{RankEntry, RankState};

use crate::rank::Ended;
use crate::signals::describe;

/// What the end of a rank's process means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It ended well.
    Well,
    /// It ended with a code, but nobody can be waiting for it any more.
    Late(i32),
    /// It has failed, and others may wait for it for ever: the job has to end.
    Failed(Failure),
}

/// How a rank failed. The display form continues "rank 3 (…) ".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Killed by a signal.
    Signal(i32),
    /// It called `MPI_Abort`.
    Abort {
        /// The code it gave.
        code: i32,
        /// Its reason, if it gave one.
        message: String,
    },
    /// It exited between `MPI_Init` and `MPI_Finalize`.
    Unfinalised(i32),
    /// It exited with a session that was not finalised.
    OpenSession(i32),
    /// It exited with a code other than 0 and was no MPI process (yet).
    Code(i32),
    /// It exited with code 0, in no session, and never called `MPI_Init`, which the other rank named here
    /// has called.
    NeverJoined {
        /// The lowest rank that is in MPI.
        joined: u32,
    },
    /// The MPI process, which a wrapper had started, is gone; the wrapper is not.
    Vanished,
}

/// Judges a process by how it ended and by what it last said of itself.
pub(crate) fn judge(ended: Ended, entry: &RankEntry) -> Verdict {
    Verdict::Failed(match (ended, entry.state) {
        (_, RankState::Aborted) => {
            Failure::Abort { code: entry.abort_code, message: entry.abort_message.clone() }
        }
        (Ended::Signal(signal), _) => Failure::Signal(signal),
        (Ended::Code(code), RankState::Initialised) => Failure::Unfinalised(code),
        (Ended::Code(code), RankState::InSessions) => Failure::OpenSession(code),
        (Ended::Code(0), _) => return Verdict::Well,
        (Ended::Code(code), RankState::Finalised | RankState::Left) => return Verdict::Late(code),
        (Ended::Code(code), RankState::Absent) => Failure::Code(code),
    })
}

impl Failure {
    /// The launcher's exit status; never 0.
    pub(crate) fn status(&self) -> i32 {
        let status = match self {
            Self::Signal(signal) => 128 + signal,
            Self::Abort { code, .. }
            | Self::Unfinalised(code)
            | Self::OpenSession(code)
            | Self::Code(code) => code & 0xff,
            Self::Vanished | Self::NeverJoined { .. } => 1,
        };
        status.max(1)
    }

    /// Of failures seen at the same moment the most telling is the one with the highest rank here: the others
    /// are likely to be its consequences.
    pub(crate) fn telling(&self) -> u8 {
        match self {
            Self::Signal(_) => 4,
            Self::Abort { .. } => 3,
            Self::Unfinalised(_) | Self::OpenSession(_) => 2,
            Self::Code(_) => 1,
            Self::Vanished | Self::NeverJoined { .. } => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(signal) => write!(out, "was killed by {}", describe(*signal)),
            Self::Abort { code, message } if message.is_empty() => {
                write!(out, "called MPI_Abort with code {code}")
            }
            Self::Abort { code, message } => write!(out, "called MPI_Abort with code {code}: {message}"),
            Self::Unfinalised(code) => {
                write!(out, "exited with code {code}{} after MPI_Init without MPI_Finalize", Hint(*code))
            }
            Self::OpenSession(code) => {
                write!(
                    out,
                    "exited with code {code}{} after MPI_Session_init without MPI_Session_finalize",
                    Hint(*code)
                )
            }
            Self::Code(code) => write!(out, "exited with code {code}{}", Hint(*code)),
            Self::NeverJoined { joined } => write!(
                out,
                "exited with code 0 and never called MPI_Init, but rank {joined} has called it and would wait \
                 for ever"
            ),
            Self::Vanished => {
                write!(out, "ended without MPI_Finalize or MPI_Session_finalize while its wrapper still runs")
            }
        }
    }
}

/// What shells mean by an exit code.
struct Hint(i32);

impl fmt::Display for Hint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            126 => write!(out, " (a shell's way of saying: cannot be run)"),
            127 => write!(out, " (a shell's way of saying: not found)"),
            code @ 129..=192 => write!(out, " (a shell's way of saying: killed by {})", describe(code - 128)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(state: RankState) -> RankEntry {
        RankEntry { state, pid: Some(1), abort_code: 0, abort_message: String::new() }
    }

    #[test]
    fn only_an_end_that_nobody_waits_for_is_no_failure() {
        let failed = Verdict::Failed;
        for (ended, state, verdict) in [
            (Ended::Code(0), RankState::Absent, Verdict::Well),
            (Ended::Code(0), RankState::Finalised, Verdict::Well),
            (Ended::Code(5), RankState::Finalised, Verdict::Late(5)),
            (Ended::Code(0), RankState::Initialised, failed(Failure::Unfinalised(0))),
            (Ended::Code(5), RankState::Initialised, failed(Failure::Unfinalised(5))),
            (Ended::Code(0), RankState::InSessions, failed(Failure::OpenSession(0))),
            (Ended::Code(5), RankState::InSessions, failed(Failure::OpenSession(5))),
            (Ended::Code(0), RankState::Left, Verdict::Well),
            (Ended::Code(5), RankState::Left, Verdict::Late(5)),
            (Ended::Code(5), RankState::Absent, failed(Failure::Code(5))),
            (Ended::Signal(9), RankState::Absent, failed(Failure::Signal(9))),
            (Ended::Signal(9), RankState::Finalised, failed(Failure::Signal(9))),
            (Ended::Code(0), RankState::Aborted, failed(Failure::Abort { code: 0, message: String::new() })),
        ] {
            assert_eq!(judge(ended, &entry(state)), verdict, "{ended:?} in {state:?}");
        }
    }

    #[test]
    fn a_failure_has_a_status_and_words() {
        assert_eq!(Failure::Signal(9).status(), 137);
        assert_eq!(Failure::Unfinalised(0).status(), 1);
        assert_eq!(Failure::OpenSession(0).status(), 1);
        let abort = Failure::Abort { code: 256, message: "no room".to_owned() };
        assert_eq!(abort.status(), 1);
        assert_eq!(abort.to_string(), "called MPI_Abort with code 256: no room");
        assert!(Failure::Code(139).to_string().contains("SIGSEGV"));
    }
}
