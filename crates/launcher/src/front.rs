//! The two processes that `mpiexec` consists of: the one that was started, here the *front*, and the
//! launcher, which the front forks and which leads a session of its own.
//!
//! The ranks are in the launcher's session. Linux divides the processors fairly among sessions before it does
//! among the threads of one (autogroups), and a thread that yields stands back only in its own session. So a
//! rank that waits beside programs of the user's shell yields to other ranks, and not a time slice to each of
//! those programs.
//!
//! The front stays where the user's shell wants it: in the terminal's session and foreground. It passes on
//! signals and what is typed, and ends as the launcher does. If it is killed, so is the launcher, and the
//! guardian ends the job.

use std::fs;
use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getppid, setsid};

use crate::signals::{self, ENDING, Signals};
use crate::terminal_input::TerminalInput;

/// How often the front looks whether it has come to the terminal's foreground.
const LOOK: Duration = Duration::from_millis(250);

/// Which of the two processes this is.
#[derive(Debug)]
pub(crate) enum Side {
    Front(Front),
    /// The launcher, with what is to be rank 0's standard input if the terminal is the front's.
    Launcher(Option<PipeReader>),
}

/// The process that the user has started.
#[derive(Debug)]
pub(crate) struct Front {
    launcher: Pid,
    signals: Signals,
    terminal: Option<TerminalInput>,
    /// The signals to end that were passed on.
    told: Vec<Signal>,
}

/// Divides the process, which must have a single thread, into front and launcher.
///
/// # Errors
/// The system's error, if it refuses a pipe, a process or a descriptor.
pub(crate) fn divide() -> io::Result<Side> {
    let (terminal, input) = TerminalInput::open()?.unzip();
    let front = Pid::this();
    // Before the fork, so that the end of the launcher is seen however early it comes.
    let signals = Signals::take()?;
    // SAFETY: the process has no other thread, so the child may do whatever its parent may.
    match unsafe { fork() }? {
        ForkResult::Parent { child: launcher } => {
            Ok(Side::Front(Front { launcher, signals, terminal, told: Vec::new() }))
        }
        ForkResult::Child => {
            // The launcher takes its own over, from the same mask.
            signals.give_back()?;
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != front {
                return Err(io::Error::other("the process that started it is gone"));
            }
            // A kernel that refuses this costs speed beside other programs, and nothing else.
            let _ = setsid();
            keep_niceness();
            Ok(Side::Launcher(input))
        }
    }
}

/// A niceness orders the threads of a session. For another order among sessions the session has its own.
fn keep_niceness() {
    // Fields 3 to 19 follow the name, which a parenthesis ends.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let niceness = stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(16));
    if let Some(niceness) = niceness.filter(|niceness| *niceness != "0") {
        // A kernel without autogroups has no such file, and orders all threads.
        let _ = fs::write("/proc/self/autogroup", niceness);
    }
}

impl Front {
    /// Stays until the launcher has ended, and ends as it did.
    pub(crate) fn run(mut self) -> ! {
        loop {
            match self.look() {
                Ok(WaitStatus::Exited(_, status)) => self.end(status),
                Ok(WaitStatus::Signaled(_, signal, _)) => self.end(128 + signal as i32),
                // The system refuses both calls, so nobody can wait for the launcher.
                Err(error) if error != Errno::EINTR => std::process::exit(1),
                _ => {}
            }
            self.pump();
        }
    }

    /// Looks whether the launcher has ended.
    fn look(&self) -> nix::Result<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG;
        // A filter of system calls may refuse one of them.
        waitid(Id::Pid(self.launcher), flags).or_else(|_| waitpid(self.launcher, Some(WaitPidFlag::WNOHANG)))
    }

    /// Ends with the status, or by the signal that it stands for if the launcher was told to end by that.
    fn end(&self, status: i32) -> ! {
        if let Some(&signal) = self.told.iter().find(|signal| 128 + **signal as i32 == status) {
            signals::die_by(signal);
        }
        std::process::exit(status)
    }

    /// Waits for a signal or for the terminal, and passes on what has come.
    fn pump(&mut self) {
        let stdin = io::stdin();
        let mut fds = vec![PollFd::new(self.signals.fd.as_fd(), PollFlags::POLLIN)];
        let interest = self.terminal.as_ref().and_then(|terminal| terminal.interest(&stdin));
        fds.extend(interest.map(|(fd, flags)| PollFd::new(fd, flags)));
        let is_behind = self.terminal.is_some() && fds.len() == 1;
        let timeout = if is_behind { PollTimeout::try_from(LOOK) } else { Ok(PollTimeout::NONE) };
        if poll(&mut fds, timeout.unwrap_or(PollTimeout::NONE)).is_err() {
            return;
        }
        let can_step = fds.get(1).is_some_and(|fd| fd.any().unwrap_or(false));
        drop(fds);
        self.take_signals();
        if can_step && !self.terminal.as_mut().is_some_and(|terminal| terminal.step(&stdin)) {
            self.terminal = None;
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if signal == Signal::SIGCHLD {
                continue;
            }
            if ENDING.contains(&signal) {
                self.told.push(signal);
            }
            // The launcher stays until the front has seen its end, so the number is its own.
            let _ = kill(self.launcher, signal);
            if signal == Signal::SIGTSTP {
                // The front stops here. What continues it is passed on as well.
                let _ = raise(Signal::SIGSTOP);
            }
        }
    }
}
