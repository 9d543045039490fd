//! Which processes have started, which of them need their peers to fence, which take spread messages, and how
//! many threads they have.
//!
//! A process rings a sleeper's doorbell without a full fence (`heddle_sync::doorbell`): the sleeper makes the
//! processors of the others pass one, by `membarrier`. If the kernel forbids `membarrier`, as a container's
//! filter may, all peers of the process must fence instead. They learn it here, without a synchronisation of
//! all processes at start-up:
//!
//! | state | written by the process when | a peer that sees it when it opens a ring |
//! |---|---|---|
//! | `ABSENT` | never: zero pages | does not open it: its messages wait as if the ring were full |
//! | `READY` | it attaches, registered for `membarrier` | opens it |
//! | `NEEDS_FENCES` | it attaches, and has no `membarrier` | calls `barrier::force_fences` for itself, then opens it |
//!
//! Invariants:
//! 1. A state is written once, before its process opens any ring.
//! 2. Both ends read the other's state before they use a ring: the sender before it announces itself, the
//!    receiver when it sees the announcement. So if one of two processes needs fences, the other fences from
//!    before their first message on.
//! 3. A sender that sleeps because its receiver is absent is woken: the sender says that it awaits the
//!    receiver, passes a full fence and reads the state once more; the new process writes its state, passes a
//!    full fence, and rings the doorbells of those who await it. (If it rang all, each start would wake all
//!    processes that sleep.)

use crate::single_copy::Identity;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use heddle_platform::barrier;

const ABSENT: u32 = 0;
const READY: u32 = 1;
const NEEDS_FENCES: u32 = 2;

/// The demand of a process on its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: its `membarrier` reaches them.
    Nothing,
    /// They must fence.
    Fences,
}

impl Need {
    /// What this process needs. Registers the process for `membarrier` if it is not registered.
    pub(crate) fn of_this_process() -> Need {
        if barrier::is_asymmetric() { Need::Nothing } else { Need::Fences }
    }
}

/// A process's line in the segment; zeros are valid.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Presence {
    state: AtomicU32,
    pid: AtomicU32,
    cookie_address: AtomicU64,
    cookie: AtomicU64,
    /// 1 if the process takes messages of one VNI that are spread over others. Written later than the rest.
    takes_spread: AtomicU32,
    /// The number of its threads that call MPI.
    threads: AtomicU32,
    /// A digest of the set of cores on which it may run; 0 before the process has said so.
    cores: AtomicU64,
    /// The processes that were absent when this one had a message for them: a bit for each ([`bit_of`]).
    awaited: AtomicU64,
}

/// The bit of the process with this number, which it shares with others in a large job.
fn bit_of(index: usize) -> u64 {
    1 << (index % 64)
}

const _: () = assert!(size_of::<Presence>() == 64);

impl Presence {
    /// Announces that the process has started. The caller then wakes those who [await](Self::awaits) it.
    pub(crate) fn enter(&self, need: Need, identity: Identity) {
        self.pid.store(identity.pid, Ordering::Relaxed);
        self.cookie_address.store(identity.address, Ordering::Relaxed);
        self.cookie.store(identity.cookie, Ordering::Relaxed);
        let state = if need == Need::Fences { NEEDS_FENCES } else { READY };
        // Release: a peer that reads the state also sees the identity and the memory that
        // the process has reserved.
        self.state.store(state, Ordering::Release);
        // Invariant 3: partner of the fence in `await_other`.
        fence(Ordering::SeqCst);
    }

    /// Says that this process awaits the one with this number, whose presence it reads afterwards.
    pub(crate) fn await_other(&self, index: usize) {
        self.awaited.fetch_or(bit_of(index), Ordering::Relaxed);
        // Invariant 3: partner of the fence in `enter`.
        fence(Ordering::SeqCst);
    }

    /// Returns true if this process may await the one with this number, which has [entered](Self::enter).
    pub(crate) fn awaits(&self, index: usize) -> bool {
        // Relaxed: after the fence in `enter`.
        self.awaited.load(Ordering::Relaxed) & bit_of(index) != 0
    }

    /// Says that the process takes messages of one VNI that are spread over others.
    pub(crate) fn take_spread(&self) {
        // Release: a peer that sends them finds the process ready.
        self.takes_spread.store(1, Ordering::Release);
    }

    /// Returns true if the process has said so.
    pub(crate) fn takes_spread(&self) -> bool {
        self.takes_spread.load(Ordering::Acquire) != 0
    }

    /// Says on which cores the process may run.
    pub(crate) fn set_cores(&self, digest: u64) {
        // Relaxed, here and below: hints.
        self.cores.store(digest, Ordering::Relaxed);
    }

    /// Says how many of its threads call MPI.
    pub(crate) fn set_threads(&self, threads: u32) {
        self.threads.store(threads, Ordering::Relaxed);
    }

    /// The number of its threads, one at least, that run on the cores with this digest, as far as is known.
    pub(crate) fn threads_on(&self, digest: u64) -> u32 {
        let cores = self.cores.load(Ordering::Relaxed);
        if cores == digest || cores == 0 { self.threads.load(Ordering::Relaxed).max(1) } else { 0 }
    }

    /// Returns true if the process has said on which cores it may run.
    pub(crate) fn has_said_cores(&self) -> bool {
        self.cores.load(Ordering::Relaxed) != 0
    }

    /// How to reach the memory of the process. The caller has [met](Self::meet) it.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.pid.load(Ordering::Relaxed),
            address: self.cookie_address.load(Ordering::Relaxed),
            cookie: self.cookie.load(Ordering::Relaxed),
        }
    }

    /// Returns true if a ring from or to this process may be used. Fences from now on
    /// if the process needs it.
    pub(crate) fn meet(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            ABSENT => return false,
            NEEDS_FENCES => barrier::force_fences(),
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_that_may_run_on_the_same_cores() {
        let presence = Presence::default();
        assert_eq!((presence.threads_on(5), presence.has_said_cores()), (1, false));
        presence.set_cores(5);
        presence.set_threads(7);
        assert_eq!((presence.threads_on(5), presence.threads_on(6), presence.has_said_cores()), (7, 0, true));
    }
}
