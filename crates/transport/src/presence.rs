//! Which processes are there, and what they need of the others.
//!
//! Nobody rings a sleeper with a full fence (`heddle_sync::doorbell`): the sleeper makes the others' processors pass one, by
//! `membarrier`. A process that the kernel forbids this, as a container's filter may, cannot; then everybody it
//! communicates with must fence. They learn it here, without a meeting of all processes at start-up:
//!
//! | state | written by the process when | who sees it at the opening of a ring |
//! |---|---|---|
//! | `ABSENT` | never: zero pages | does not open it: what is sent waits as if the ring were full |
//! | `READY` | it attaches, registered for `membarrier` | opens it |
//! | `NEEDS_FENCES` | it attaches, and has no `membarrier` | calls `barrier::force_fences` for itself, then opens it |
//!
//! Invariants:
//! 1. A state is written once, before its process opens any ring.
//! 2. Both ends look at the other's state before they use a ring: the sender before it announces itself, the receiver
//!    when it sees the announcement. So before the first message between two processes, each does what the other needs.
//! 3. A sender that sleeps since its receiver is absent is woken: the newcomer writes its state, passes a full fence and
//!    rings everybody's doorbell; a sleeper announces itself, passes a full fence and looks at the state once more.

use crate::single_copy::Identity;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use heddle_platform::barrier;

const ABSENT: u32 = 0;
const READY: u32 = 1;
const NEEDS_FENCES: u32 = 2;

/// What a process needs of those with whom it communicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: its `membarrier` reaches them.
    Nothing,
    /// That they fence.
    Fences,
}

impl Need {
    /// What this process needs. Registers it, if it is not.
    pub(crate) fn own() -> Need {
        if barrier::is_asymmetric() { Need::Nothing } else { Need::Fences }
    }
}

/// A process's own line in the segment; zeros are valid.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Presence {
    state: AtomicU32,
    pid: AtomicU32,
    cookie_address: AtomicU64,
    cookie: AtomicU64,
}

const _: () = assert!(size_of::<Presence>() == 64);

impl Presence {
    /// Says that the process is there. The caller rings all doorbells afterwards.
    pub(crate) fn enter(&self, need: Need, identity: Identity) {
        self.pid.store(identity.pid, Ordering::Relaxed);
        self.cookie_address.store(identity.address, Ordering::Relaxed);
        self.cookie.store(identity.cookie, Ordering::Relaxed);
        let state = if need == Need::Fences { NEEDS_FENCES } else { READY };
        // Release: what the process has set up, it has set up before.
        self.state.store(state, Ordering::Release);
        // Invariant 3: partner of the fence in `barrier::heavy` of a sleeper.
        fence(Ordering::SeqCst);
    }

    /// Where the memory of the process is. The caller has met it.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.pid.load(Ordering::Relaxed),
            address: self.cookie_address.load(Ordering::Relaxed),
            cookie: self.cookie.load(Ordering::Relaxed),
        }
    }

    /// Whether a ring from or to this process may be used; does what it needs.
    pub(crate) fn meet(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            ABSENT => return false,
            NEEDS_FENCES => barrier::force_fences(),
            _ => {}
        }
        true
    }
}
