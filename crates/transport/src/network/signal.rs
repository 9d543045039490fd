//! The word by which threads in MPI tell the listener that it has something to do.

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{Scope, futex};
use std::time::Duration;

/// A thread sleeps, or may: the listener waits for descriptors.
const ARMED: u32 = 1;
/// A packet may be open that nobody has sent: the listener sends it soon.
const OPEN: u32 = 2;
/// There is no listener.
const ABSENT: u32 = 4;

/// The word. Under the mutex of a port a thread leaves a packet open only while no thread is armed; so a
/// listener that is armed, and closes all open packets after that, leaves none.
#[derive(Debug)]
pub(super) struct Signal(AtomicU32);

impl Signal {
    /// The signal of a listener that is not there yet.
    pub(super) fn new() -> Signal {
        Signal(AtomicU32::new(ABSENT))
    }

    /// From now on there is a listener.
    pub(super) fn listener_is_there(&self) {
        self.0.fetch_and(!ABSENT, Ordering::AcqRel);
    }

    /// Arms the listener. Returns false if there is none.
    pub(super) fn arm(&self) -> bool {
        let before = self.0.fetch_or(ARMED, Ordering::AcqRel);
        if before & ARMED == 0 {
            futex::wake(&self.0, 1, Scope::Process);
        }
        before & ABSENT == 0
    }

    /// Lets a packet stay open, if the listener will close it. Called under the mutex of the port.
    pub(super) fn leave_open(&self) -> bool {
        let word = self.0.load(Ordering::Acquire);
        if word == OPEN {
            return true;
        }
        if word != 0 || self.0.compare_exchange(0, OPEN, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        futex::wake(&self.0, 1, Scope::Process);
        true
    }

    /// Returns true if the listener is armed.
    pub(super) fn is_armed(&self) -> bool {
        self.0.load(Ordering::Acquire) & ARMED != 0
    }

    /// Returns true if packets may be open.
    pub(super) fn has_open(&self) -> bool {
        self.0.load(Ordering::Acquire) & OPEN != 0
    }

    /// Disarms the listener. Returns true if it was armed.
    pub(super) fn disarm(&self) -> bool {
        self.0.fetch_and(!ARMED, Ordering::AcqRel) & ARMED != 0
    }

    /// No packets are open, until one is left so.
    pub(super) fn none_is_open(&self) {
        self.0.fetch_and(!OPEN, Ordering::AcqRel);
    }

    /// Waits until there is something to do, for that time at most.
    pub(super) fn wait(&self, longest: Option<Duration>) {
        futex::wait(&self.0, 0, longest, Scope::Process);
    }

    /// Waits while packets are open and no thread is armed, for that time at most.
    pub(super) fn wait_while_open(&self, longest: Duration) {
        futex::wait(&self.0, OPEN, Some(longest), Scope::Process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_open_only_while_there_is_a_listener_and_no_thread_is_armed() {
        let signal = Signal::new();
        assert!(!signal.leave_open(), "nobody would send it");
        signal.listener_is_there();
        assert!(signal.leave_open() && signal.leave_open());
        assert!(signal.arm());
        assert!(!signal.leave_open(), "one more beside an open one");
        signal.none_is_open();
        assert!(!signal.leave_open(), "the only one");
        assert!(signal.disarm());
        assert!(signal.leave_open());
    }
}
