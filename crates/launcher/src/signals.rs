//! Signals: those the launcher takes care of, and what each one means in words.

use std::fs;

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Signals that ask the job to end. They are passed on; the second one kills.
pub(crate) const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Signals that are passed on and mean nothing to the launcher: it does not stop with its ranks.
const PASSED_ON: [Signal; 4] = [Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGTSTP, Signal::SIGCONT];

/// The launcher's signals, read as events instead of interrupting it.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Readable when a signal has come.
    pub(crate) fd: SignalFd,
    /// The mask the launcher was started with, which is what the ranks get.
    pub(crate) original_mask: SigSet,
}

impl Signals {
    /// Blocks the signals and opens the descriptor they are read from. Those that were ignored when the
    /// launcher started (`nohup`, a background job of a script) stay ignored.
    pub(crate) fn take() -> nix::Result<Self> {
        // An ignored SIGCHLD would make the kernel forget the ranks' exit codes.
        // SAFETY: the default action runs no code of ours.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        let ignored = ignored();
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        for one in ENDING.into_iter().chain(PASSED_ON) {
            if ignored & (1 << (one as u32 - 1)) == 0 {
                mask.add(one);
            }
        }
        let original_mask = mask.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let fd = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { fd, original_mask })
    }

    /// The next signal that has come; none if that was the last one.
    pub(crate) fn next(&self) -> Option<Signal> {
        let info = self.fd.read_signal().ok()??;
        Signal::try_from(info.ssi_signo.cast_signed()).ok()
    }

    /// Has the signals delivered again as before [`take`](Self::take).
    pub(crate) fn give_back(self) -> nix::Result<()> {
        self.original_mask.thread_set_mask()
    }
}

/// The signals this process ignores, one bit each, signal 1 lowest.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

/// Ends this process by `signal`, as if it had never been handled, so that a shell sees the truth.
pub(crate) fn die_by(ending: Signal) {
    // SAFETY: the default action runs no code of ours.
    if unsafe { signal(ending, SigHandler::SigDfl) }.is_ok() {
        let mut only = SigSet::empty();
        only.add(ending);
        let _ = nix::sys::signal::raise(ending);
        let _ = only.thread_unblock();
    }
}

/// The name and the usual cause of a signal that killed a process.
pub(crate) fn describe(number: i32) -> String {
    let Ok(known) = Signal::try_from(number) else {
        return format!("signal {number}");
    };
    let meaning = match known {
        Signal::SIGSEGV => "it touched memory that is not its own: a bad pointer or an index out of bounds",
        Signal::SIGBUS => {
            "it touched memory that does not exist: a mapped file that became shorter, or memory of a window or of \
             MPI_Alloc_mem for which the system had no page left"
        }
        Signal::SIGABRT => "it gave up by abort(): a failed assertion or a damaged heap",
        Signal::SIGFPE => "an arithmetic error, such as an integer division by zero",
        Signal::SIGILL => "an instruction that this processor does not have",
        Signal::SIGKILL => {
            "somebody killed it, or the kernel did because the memory of the machine or of its control group ran out"
        }
        Signal::SIGTERM => "somebody asked it to end",
        Signal::SIGINT => "it was interrupted",
        Signal::SIGHUP => "its terminal went away",
        Signal::SIGQUIT => "somebody asked it to quit",
        Signal::SIGPIPE => "it wrote to a pipe that nobody reads",
        Signal::SIGXCPU => "it used up its processor time",
        Signal::SIGXFSZ => "it wrote a file larger than its limit",
        Signal::SIGSYS => "a system call that is forbidden here",
        Signal::SIGTRAP => "a breakpoint without a debugger",
        Signal::SIGALRM | Signal::SIGVTALRM | Signal::SIGPROF => "a timer of its own ran out",
        _ => return format!("signal {number} ({known})"),
    };
    format!("signal {number} ({known}: {meaning})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_meanings() {
        assert!(describe(11).starts_with("signal 11 (SIGSEGV: "));
        assert_eq!(describe(17), "signal 17 (SIGCHLD)");
        assert_eq!(describe(40), "signal 40");
    }
}
