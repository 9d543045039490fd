//! What came of an operation.

use super::kind::{RequestId, RequestKind};
use crate::error::Error;
use heddle_spec::constants as mpi;

/// What came of an operation.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Rank of the sender in the communicator, for receives.
    pub source: i32,
    /// The message's tag, for receives.
    pub tag: i32,
    /// Bytes received.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
    /// Why it failed, if it did.
    pub error: Option<Error>,
}

impl Outcome {
    /// The outcome of an operation that receives nothing: the standard's *empty status*.
    pub fn empty() -> Outcome {
        Outcome { source: mpi::MPI_ANY_SOURCE, tag: mpi::MPI_ANY_TAG, ..Outcome::default() }
    }

    /// The outcome of a receive from `MPI_PROC_NULL`.
    pub fn proc_null() -> Outcome {
        Outcome { source: mpi::MPI_PROC_NULL, tag: mpi::MPI_ANY_TAG, ..Outcome::default() }
    }
}

/// What came of a part of a joint operation.
#[derive(Debug)]
pub struct PartOver {
    /// The joint request.
    pub whole: RequestId,
    /// Of the part.
    pub kind: RequestKind,
    /// What came of the part.
    pub outcome: Outcome,
}
