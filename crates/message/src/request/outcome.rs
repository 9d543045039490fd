//! The results of operations.

use super::kind::{RequestId, RequestKind};
use crate::error::Error;
use heddle_spec::constants as mpi;

/// The result of an operation.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Rank of the sender in the communicator, for receives.
    pub source: i32,
    /// The message's tag, for receives.
    pub tag: i32,
    /// The number of bytes received.
    pub bytes: u64,
    /// True if the operation was cancelled.
    pub cancelled: bool,
    /// The error, if the operation failed.
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

/// The result of a part of a joint operation.
#[derive(Debug)]
pub struct PartOver {
    /// The joint request.
    pub whole: RequestId,
    /// The purpose of the part.
    pub kind: RequestKind,
    /// The result of the part.
    pub outcome: Outcome,
}
