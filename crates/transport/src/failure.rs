//! Failures that end a job in the middle of its messages: no memory for them, or a peer that
//! writes garbage into a ring.

use std::fmt;
use std::io;

/// Advice for a user whose job lacks memory.
pub(crate) const MEMORY_ADVICE: &str = "raise the machine's or the container's limit on memory (shared \
                                        memory counts), start fewer ranks, or set HEDDLE_VNIS to a smaller \
                                        number";

/// Why this process cannot go on.
#[derive(Debug)]
pub enum Failure {
    /// There is no memory for the messages to a peer.
    NoMemory {
        /// The peer's rank in `MPI_COMM_WORLD`.
        peer: usize,
        /// The system's error.
        source: io::Error,
    },
    /// A peer on another machine cannot be reached.
    Lost {
        /// The peer's rank in `MPI_COMM_WORLD`.
        peer: usize,
        /// Its host, if that is known.
        host: Option<String>,
        /// The reason.
        why: String,
    },
    /// The network cannot be used any more.
    Network {
        /// The reason.
        why: String,
    },
    /// A peer has written words that no sender writes.
    Garbage {
        /// The peer's rank in `MPI_COMM_WORLD`.
        peer: usize,
        /// The reason why they cannot be used.
        what: Garbage,
    },
}

/// A message that no sender writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Garbage {
    /// The flag word of a cell gives the payload an impossible length.
    #[error("a slot is said to hold {0} bytes, and it has room for 40")]
    SlotLength(u8),
    /// A message that takes a whole slot begins in the middle of one, or a slot is skipped at its beginning.
    #[error("a message lies across two slots")]
    Misplaced,
    /// A payload is longer than any that is sent.
    #[error("a payload is said to have {len} bytes, and the longest has {longest}")]
    PayloadLength {
        /// Its length.
        len: u64,
        /// The longest length.
        longest: u64,
    },
    /// A payload lies where the sender could not have put it.
    #[error("a payload is said to lie at position {position}, and the reader is at {reader}")]
    PayloadPosition {
        /// Where it is said to be.
        position: u64,
        /// How far the reader has come.
        reader: u64,
    },
    /// Credit for more messages than are on their way.
    #[error("a packet returns credit for {credit} messages, and not as many are on their way")]
    Credit {
        /// The number of messages.
        credit: u32,
    },
    /// A message that the protocols do not know.
    #[error("a message is of kind {0}, which is unknown")]
    Kind(u8),
    /// A message of the protocols does not have the form of its kind.
    #[error("a message of kind {kind} has {len} bytes")]
    Form {
        /// Its kind.
        kind: u8,
        /// Its length.
        len: usize,
    },
    /// An answer to an operation that has not asked for it.
    #[error("a message of kind {kind} names operation {operation}, which does not wait for it")]
    Operation {
        /// Its kind.
        kind: u8,
        /// The operation that it names.
        operation: u64,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoMemory { peer, source } => {
                write!(out, "no shared memory for messages to rank {peer}: {source}; {MEMORY_ADVICE}")
            }
            Failure::Lost { peer, host, why } => {
                let host = host.as_deref().unwrap_or("another machine");
                write!(out, "rank {peer} on {host} cannot be reached: {why}")
            }
            Failure::Network { why } => write!(out, "the network between machines has failed: {why}"),
            Failure::Garbage { peer, what } => write!(
                out,
                "rank {peer} has written to this process's memory what no rank writes: {what}; it overwrites \
                 memory that is not its own, or uses another version of Heddle"
            ),
        }
    }
}

/// Ends the process because of a failure.
pub type Fail = fn(&Failure) -> !;

/// The process at the other end of a ring, and the function that ends this process if
/// the peer or the ring fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) rank: usize,
    pub(crate) fail: Fail,
}

impl Peer {
    /// Fails because the peer has written garbage.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuse(self, what: Garbage) -> ! {
        (self.fail)(&Failure::Garbage { peer: self.rank, what })
    }

    /// Gets memory for a part of a ring, or fails.
    #[cold]
    #[cfg(not(loom))]
    pub(crate) fn reserve(self, start: *mut u8, len: usize) {
        if let Err(source) = heddle_bootstrap::mapping::reserve(start, len) {
            (self.fail)(&Failure::NoMemory { peer: self.rank, source });
        }
    }

    /// The memory of a model exists already.
    #[cfg(loom)]
    pub(crate) fn reserve(self, _start: *mut u8, _len: usize) {}
}
