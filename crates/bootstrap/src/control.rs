//! The control block: the first bytes of a job's memory file, written by the launcher before any rank starts.
//!
//! ```text
//! 0        64              64 + 8 x AGREEMENTS      + 256 x size            control_len(size)
//! | Header | agreements ... | Slot of rank 0 | 1 | 2 ... | unused, sparse ... | transport ...
//! ```
//!
//! Where another launcher than ours has started the ranks, only those that may be on the machine have slots,
//! in their order, and `size` is their number.
//!
//! A rank's slot is written by that rank only (the launcher and the others read),
//! save for the claim of `pid`:
//!
//! | state | written by the rank when | a process that ends in it |
//! |---|---|---|
//! | `ABSENT` | never: zero pages | was no MPI program, or had not reached `MPI_Init` |
//! | `INITIALISED` | `MPI_Init` begins | has failed: the others may wait for it |
//! | `IN_SESSIONS` | `MPI_Session_init` begins, unless `MPI_Init` was called and `MPI_Finalize` was not | has failed: the others may wait for it |
//! | `FINALISED` | `MPI_Finalize` is through, and no session is left | is done |
//! | `LEFT` | its last session ends, and it has never called `MPI_Init` | is done |
//! | `ABORTING` | one of its threads has called `MPI_Abort` and writes code and message | has failed |
//! | `ABORTED` | code and message are complete | has failed, with a code |
//!
//! Orderings: a state is stored with Release after its data (pid, code, message) and loaded with Acquire
//! before these are read. An agreement is one word, so its exchange carries the whole value; it is AcqRel so
//! that the ranks that accept a value see everything that the winner wrote before it proposed.

use std::fs;
use std::os::unix::fs::MetadataExt;

use heddle_platform::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use heddle_platform::{Scope, futex};

use crate::Mapping;

/// The most ranks that the memory of a job can serve.
pub const MAX_SIZE: u32 = 1 << 16;
/// How many agreements a job can reach.
pub const AGREEMENTS: usize = 56;
/// The longest abort message that is kept, in bytes.
pub const MESSAGE_BYTES: usize = 232;

/// "heddle", a zero byte, and a letter for this kind of block.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"heddle\0c");
/// Changes with every change of this file's layout.
pub(crate) const VERSION: u32 = 3;

const ABSENT: u32 = 0;
const INITIALISED: u32 = 1;
const FINALISED: u32 = 2;
const ABORTED: u32 = 3;
const ABORTING: u32 = 4;
const IN_SESSIONS: u32 = 5;
const LEFT: u32 = 6;

/// The granularity of the control block's length: the largest base page of the supported machines.
const PAGE_BYTES: usize = 1 << 16;

/// The length of the control block of a job of `size` ranks, and so where the transport's part begins: a
/// multiple of the page size of every supported machine. Pages that no process touches cost nothing.
#[must_use]
pub const fn control_len(size: u32) -> usize {
    (slot_offset(size)).next_multiple_of(PAGE_BYTES)
}

const fn slot_offset(rank: u32) -> usize {
    size_of::<Header>() + size_of::<Agreements>() + rank as usize * size_of::<Slot>()
}

/// The block's header, which identifies the job.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU32,
    pub(crate) size: AtomicU32,
    /// The process id of the launcher, or of the rank that made the block.
    pub(crate) launcher: AtomicU32,
    /// The number of ranks that have opened the block through the rank that made it, itself among them.
    pub(crate) joined: AtomicU32,
}

#[repr(C, align(64))]
#[derive(Debug)]
struct Agreements([AtomicU64; AGREEMENTS]);

#[repr(C, align(64))]
#[derive(Debug)]
struct Slot {
    state: AtomicU32,
    pid: AtomicU32,
    /// The namespace in which `pid` is valid; 0 until it is written.
    pid_namespace: AtomicU64,
    abort_code: AtomicI32,
    message_len: AtomicU32,
    message: [AtomicU8; MESSAGE_BYTES],
}

const _: () = assert!(size_of::<Slot>() == 256 && size_of::<Header>() == 64);

/// How far a rank has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankState {
    /// It has called neither `MPI_Init` nor `MPI_Session_init`.
    Absent,
    /// It is between `MPI_Init` and `MPI_Finalize`: all ranks have to call both.
    Initialised,
    /// It has sessions, and is not between `MPI_Init` and `MPI_Finalize`.
    InSessions,
    /// It has called `MPI_Finalize`, and has no sessions.
    Finalised,
    /// It has ended its sessions, and has never called `MPI_Init`.
    Left,
    /// It has called `MPI_Abort`.
    Aborted,
}

impl RankState {
    /// Returns true for a rank that others may wait for.
    #[must_use]
    pub fn is_in_mpi(self) -> bool {
        matches!(self, Self::Initialised | Self::InSessions)
    }

    /// Returns true for a rank that has never called `MPI_Init`, and is in no session.
    #[must_use]
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Absent | Self::Left)
    }
}

/// The content of a rank's slot at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankEntry {
    /// How far the rank has come.
    pub state: RankState,
    /// The MPI process, which is a descendant of the launched one if that is a wrapper; `None` before
    /// `MPI_Init` or `MPI_Session_init`, and if it is in another namespace of processes than the reader,
    /// where its number means another process.
    pub pid: Option<u32>,
    /// The code given to `MPI_Abort`; 0 in every other state.
    pub abort_code: i32,
    /// Why, in words; empty in every other state.
    pub abort_message: String,
}

/// The control block of a job, mapped.
#[derive(Debug)]
pub(crate) struct Control {
    mapping: Mapping,
    size: u32,
    pid_namespace: u64,
}

impl Control {
    /// Takes a mapping of `control_len(size)` bytes.
    pub(crate) fn new(mapping: Mapping, size: u32) -> Self {
        assert!(mapping.len() >= control_len(size), "the mapping is shorter than the control block");
        Self { mapping, size, pid_namespace: pid_namespace() }
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: `Header` is made of atomics.
        unsafe { self.mapping.get(0) }
    }

    /// Counts a rank that has opened the block through the rank that made it.
    pub(crate) fn join(&self) {
        let joined = &self.header().joined;
        joined.fetch_add(1, Ordering::Release);
        futex::wake(joined, futex::ALL, Scope::Machine);
    }

    /// Waits until that many ranks have [joined](Self::join).
    pub(crate) fn await_joined(&self, ranks: u32) {
        let joined = &self.header().joined;
        loop {
            let count = joined.load(Ordering::Acquire);
            if count >= ranks {
                return;
            }
            futex::wait(joined, count, None, Scope::Machine);
        }
    }

    fn slot(&self, rank: u32) -> &Slot {
        assert!(rank < self.size, "rank {rank} is not in a job of {} ranks", self.size);
        // SAFETY: `Slot` is made of atomics.
        unsafe { self.mapping.get(slot_offset(rank)) }
    }

    /// See [`Job::agree`](crate::Job::agree).
    pub(crate) fn agree(&self, index: usize, proposal: u64) -> u64 {
        // SAFETY: `Agreements` is made of atomics.
        let agreements: &Agreements = unsafe { self.mapping.get(size_of::<Header>()) };
        // A word holds the value plus one, so that fresh zero pages mean "nothing proposed yet".
        let word = proposal.checked_add(1).expect("u64::MAX cannot be proposed");
        match agreements.0[index].compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => proposal,
            Err(winner) => winner - 1,
        }
    }

    pub(crate) fn pid(&self, rank: u32) -> Option<u32> {
        let slot = self.slot(rank);
        let here = slot.pid_namespace.load(Ordering::Acquire) == self.pid_namespace;
        // Relaxed: the pid was there before its namespace.
        here.then(|| slot.pid.load(Ordering::Relaxed))
    }

    pub(crate) fn state(&self, rank: u32) -> RankState {
        match self.slot(rank).state.load(Ordering::Acquire) {
            ABSENT => RankState::Absent,
            IN_SESSIONS => RankState::InSessions,
            FINALISED => RankState::Finalised,
            LEFT => RankState::Left,
            ABORTED => RankState::Aborted,
            // ABORTING: code and message are not there yet, and never will be if the process dies now.
            _ => RankState::Initialised,
        }
    }

    pub(crate) fn entry(&self, rank: u32) -> RankEntry {
        let slot = self.slot(rank);
        let state = self.state(rank);
        let mut entry = RankEntry { state, pid: self.pid(rank), abort_code: 0, abort_message: String::new() };
        if state == RankState::Aborted {
            entry.abort_code = slot.abort_code.load(Ordering::Relaxed);
            let len = (slot.message_len.load(Ordering::Relaxed) as usize).min(MESSAGE_BYTES);
            let bytes: Vec<u8> =
                slot.message[..len].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
            entry.abort_message = String::from_utf8_lossy(&bytes).into_owned();
        }
        entry
    }

    /// Claims `rank` for process `pid`, or returns the process that has it. The first claim
    /// stands for the whole job.
    pub(crate) fn claim(&self, rank: u32, pid: u32) -> Result<(), u32> {
        let slot = self.slot(rank);
        match slot.pid.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire) {
            Err(owner) if owner != pid => return Err(owner),
            _ => {}
        }
        slot.pid_namespace.store(self.pid_namespace, Ordering::Release);
        Ok(())
    }

    pub(crate) fn set_initialised(&self, rank: u32) {
        move_to(self.slot(rank), INITIALISED);
    }

    pub(crate) fn set_in_sessions(&self, rank: u32) {
        move_to(self.slot(rank), IN_SESSIONS);
    }

    pub(crate) fn set_finalised(&self, rank: u32) {
        move_to(self.slot(rank), FINALISED);
    }

    pub(crate) fn set_left(&self, rank: u32) {
        move_to(self.slot(rank), LEFT);
    }

    /// Stores code and message. Of several threads that abort at once the first is kept.
    pub(crate) fn set_aborted(&self, rank: u32, code: i32, message: &str) {
        let slot = self.slot(rank);
        if !move_to(slot, ABORTING) {
            return;
        }
        let kept = &message.as_bytes()[..message.floor_char_boundary(MESSAGE_BYTES)];
        for (place, byte) in slot.message.iter().zip(kept) {
            place.store(*byte, Ordering::Relaxed);
        }
        slot.message_len.store(kept.len() as u32, Ordering::Relaxed);
        slot.abort_code.store(code, Ordering::Relaxed);
        slot.state.store(ABORTED, Ordering::Release);
    }
}

/// Stores `next` unless the rank has aborted, which is final; says whether it did.
fn move_to(slot: &Slot, next: u32) -> bool {
    let mut state = slot.state.load(Ordering::Relaxed);
    while state != ABORTING && state != ABORTED {
        match slot.state.compare_exchange_weak(state, next, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(seen) => state = seen,
        }
    }
    false
}

/// The name of the namespace that this process's id belongs to; never 0.
pub(crate) fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(u64::MAX, |namespace| namespace.ino())
}
