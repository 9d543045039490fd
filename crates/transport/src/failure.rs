//! What ends a job in the middle of its messages: no memory for them, or a peer that writes what no sender writes.

use heddle_bootstrap::mapping;
use std::fmt;
use std::io;

/// What a user can do for want of memory.
pub(crate) const MEMORY_ADVICE: &str = "raise the machine's or the container's limit on memory (shared memory counts), \
                                        start fewer ranks, or set HEDDLE_VNIS to a smaller number";

/// Why this process cannot go on.
#[derive(Debug)]
pub enum Failure {
    /// There is no memory for the messages to a peer.
    NoMemory {
        /// The peer's rank in `MPI_COMM_WORLD`.
        peer: usize,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoMemory { peer, source } => {
                write!(out, "no shared memory for messages to rank {peer}: {source}; {MEMORY_ADVICE}")
            }
        }
    }
}

/// Ends the process because of a failure.
pub type Fail = fn(&Failure) -> !;

/// The process at the other end of a ring, and what is done if it or the ring fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) rank: usize,
    pub(crate) fail: Fail,
}

impl Peer {
    /// Gets memory for a part of a ring, or fails.
    #[cold]
    pub(crate) fn reserve(self, start: *mut u8, len: usize) {
        if let Err(source) = mapping::reserve(start, len) {
            (self.fail)(&Failure::NoMemory { peer: self.rank, source });
        }
    }
}
