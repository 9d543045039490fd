//! Errors of the start.

use crate::failure::MEMORY_ADVICE;
use std::io;

/// Why the transport could not start.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The segment could not be made large enough.
    #[error(
        "cannot grow the job's shared memory to {bytes} bytes: {source}; or set HEDDLE_VNIS to a smaller \
         number"
    )]
    Grow {
        /// Bytes wanted.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// The segment could not be mapped.
    #[error("cannot map {bytes} bytes of the job's shared memory: {source}")]
    Map {
        /// Bytes wanted.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// There is no memory for this process's part of it.
    #[error("no memory for this process's part of the job's shared memory: {source}; {MEMORY_ADVICE}")]
    Reserve {
        /// The system's error.
        source: io::Error,
    },
    /// Ranks run on several machines, and there is no network between them.
    #[error(
        "rank {rank} runs on another machine, or in another container, than other ranks of its job, and there \
         is no network between them: either HEDDLE_FABRIC is off, or the launcher has said that all ranks run \
         on one machine. Set HEDDLE_FABRIC to a provider of libfabric, such as tcp;ofi_rxm"
    )]
    NoNetwork {
        /// The rank of this process.
        rank: usize,
    },
    /// The processes of a machine have agreed on another number of VNIs than this one has ports.
    #[error(
        "this process has {here} VNIs, and the ranks of its machine have agreed on {machine}: set HEDDLE_VNIS to \
         the same number for all ranks"
    )]
    Vnis {
        /// The number of this process.
        here: usize,
        /// The number that was agreed.
        machine: usize,
    },
    /// libfabric cannot be used.
    #[error(transparent)]
    Libfabric(#[from] heddle_libfabric::Error),
    /// The launcher refuses an address, or does not answer.
    #[error(transparent)]
    Launcher(#[from] heddle_bootstrap::BootstrapError),
}
