//! The thread that wakes sleepers when something comes from the network.
//!
//! A thread with nothing to do sleeps on the doorbell of its process, in memory that it shares with the ranks
//! of its machine. The kernel lets nobody sleep on that and on descriptors at once; so a thread of the
//! library waits for the descriptors, and rings the doorbell. It is started when a thread first sleeps, and
//! waits only while one does:
//!
//! ```text
//!   the sleeper                                  the listener
//!   raises its flag in the doorbell              waits on `armed`
//!   looks for work once more, at the rings
//!   and at the network
//!   stores 1 in `armed`, wakes the listener ──▶  waits for the descriptors
//!   sleeps on the doorbell                       stores 0 in `armed`
//!                                  ◀──────────── rings the doorbell
//! ```
//!
//! A sleeper that comes between the last two steps sees a 0 and arms once more, or sees a 1 and is rung for,
//! since its flag was up before it looked.

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::background;
use heddle_platform::{Scope as FutexScope, futex};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

/// How long the listener waits where a provider has no descriptor, in milliseconds.
const WITHOUT_DESCRIPTOR_MS: i32 = 1;

/// The listener of a process.
#[derive(Debug)]
pub(super) struct Listener {
    /// 1 while a thread sleeps, or may.
    armed: Arc<AtomicU32>,
    /// The descriptors of all ports; none if one of them has none.
    descriptors: Option<Vec<RawFd>>,
    started: OnceLock<bool>,
}

impl Listener {
    pub(super) fn new(descriptors: Option<Vec<RawFd>>) -> Listener {
        Listener { armed: Arc::default(), descriptors, started: OnceLock::new() }
    }

    /// From now on something from the network makes the listener call `ring`. Returns false if there is no
    /// listener, because the system has no thread for it.
    pub(super) fn arm(&self, ring: impl Fn() + Send + 'static) -> bool {
        let is_there = *self.started.get_or_init(|| self.start(ring).is_ok());
        if is_there && self.armed.swap(1, Ordering::AcqRel) == 0 {
            futex::wake(&self.armed, 1, FutexScope::Process);
        }
        is_there
    }

    fn start(&self, ring: impl Fn() + Send + 'static) -> io::Result<()> {
        let (armed, descriptors) = (Arc::clone(&self.armed), self.descriptors.clone());
        let body = move || loop {
            while armed.load(Ordering::Acquire) == 0 {
                futex::wait(&armed, 0, None, FutexScope::Process);
            }
            wait_for(descriptors.as_deref());
            armed.store(0, Ordering::Release);
            ring();
        };
        // It lives as long as the process.
        background::start("heddle-network", None, body).map(drop)
    }
}

/// Waits until one of the descriptors is readable.
fn wait_for(descriptors: Option<&[RawFd]>) {
    let watched = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let (mut watched, timeout): (Vec<_>, _) = match descriptors {
        Some(descriptors) => (descriptors.iter().copied().map(watched).collect(), -1),
        None => (Vec::new(), WITHOUT_DESCRIPTOR_MS),
    };
    // SAFETY: a list of that length. An interrupted call only makes the sleepers look once more.
    unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, timeout) };
}
