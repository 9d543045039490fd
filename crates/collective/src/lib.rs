//! Collective operations (MPI 5.0, chapter 6), without the C interface.
//!
//! The crate stands on `heddle-p2p`, `heddle-message`, `heddle-comm` and `heddle-settings`. `heddle-engine`
//! makes communicators and windows with its operations; `heddle-abi` puts the standard's functions on top.
//!
//! | file | idea |
//! |---|---|
//! | `barrier`, `bcast`, `gather`, `scatter`, `allgather`, `alltoall`, `reduce`, `allreduce`, `reduce_scatter`, `scan` | an operation each: checks, and the choice of the algorithm; below it a file for each algorithm |
//! | `basic` | algorithms for these, shared with the operations of intercommunicators |
//! | `between_groups.rs` | the operations of intercommunicators |
//! | `neighborhood.rs` | the operations between neighbours in a topology |
//! | `choices.rs` | the algorithms and switch points that the user chose |
//! | `form.rs` | blocking, nonblocking, persistent: three forms of what is described once |
//! | `conversation` | the description: steps are carried out, or recorded |
//! | `blackboard` | steps in memory that the processes share |
//! | `parts.rs`, `offer.rs` | data of any length there: in parts, or in one round, published or exposed |
//! | `step.rs` | what a rank does in one step |
//! | `recorder.rs` | the steps of an operation, recorded |
//! | `schedule.rs` | recorded steps, carried out as messages complete |
//! | `messages.rs` | the messages of an operation, and what becomes of errors |
//! | `aliased.rs` | buffers that overlap, which is an error of one rank |
//! | `elements.rs`, `memory.rs` | where data lie: the program's arrays and blocks, the library's own memory |
//! | `reduction.rs`, `accumulator.rs` | computing with an operator; results that grow |
//! | `binomial.rs`, `fold.rs`, `halving.rs` | who talks to whom: pure arithmetic on ranks |
//! | `scattered_reduction.rs`, `shared_reduction` | reductions of long vectors in pieces: by messages, on the blackboard |

mod accumulator;
mod aliased;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod basic;
mod bcast;
mod between_groups;
mod binomial;
mod blackboard;
mod choices;
mod conversation;
mod elements;
mod fold;
mod form;
mod gather;
mod halving;
mod memory;
mod messages;
mod neighborhood;
mod offer;
mod parts;
mod recorder;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;
mod scattered_reduction;
mod schedule;
mod shared_reduction;
mod step;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallv, alltoallw};
pub use barrier::barrier;
pub use bcast::bcast;
pub use between_groups::tell_both_groups;
pub use conversation::Conversation;
pub use elements::{Part, Parts, TypedParts};
pub use form::{begin, begin_with, init, run};
pub use gather::{gather, gatherv};
pub use neighborhood::{
    neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw,
};
pub use reduce::{reduce, reduce_local};
pub use reduce_scatter::reduce_scatter;
pub use reduction::Reduction;
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};

use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_spec::constants as mpi;

/// Tags of the messages inside collective operations, one an operation.
mod tag {
    pub(super) const BARRIER: i32 = 1;
    pub(super) const BCAST: i32 = 2;
    pub(super) const GATHER: i32 = 3;
    pub(super) const SCATTER: i32 = 4;
    pub(super) const ALLGATHER: i32 = 5;
    pub(super) const ALLTOALL: i32 = 6;
    pub(super) const REDUCE: i32 = 7;
    pub(super) const ALLREDUCE: i32 = 8;
    pub(super) const SCAN: i32 = 9;
    pub(super) const EXSCAN: i32 = 10;
    pub(super) const REDUCE_SCATTER: i32 = 11;
    pub(super) const NEIGHBORHOOD: i32 = 12;
    pub(super) const BLACKBOARD: i32 = 13;
}

/// The rank of the root.
///
/// # Errors
/// `MPI_ERR_ROOT`.
fn check_root(comm: &CommRef, root: i32) -> Result<usize> {
    if (root as usize) < comm.size() {
        return Ok(root as usize);
    }
    let message = format!(
        "the root is {root}, but the communicator has {} processes: ranks go from 0 to {}",
        comm.size(),
        comm.size() - 1
    );
    Err(Error::new(mpi::MPI_ERR_ROOT, message))
}

/// Ranks as if `root` were rank 0 and the others followed it round the circle.
#[derive(Debug, Clone, Copy)]
struct Circle {
    root: usize,
    size: usize,
}

impl Circle {
    /// The distance from the root to `rank`.
    fn relative(self, rank: usize) -> usize {
        (rank + self.size - self.root) % self.size
    }

    /// The rank at this distance from the root.
    fn rank(self, relative: usize) -> usize {
        (self.root + relative) % self.size
    }
}

#[cold]
fn in_place_not_allowed(what: &str) -> Error {
    Error::new(mpi::MPI_ERR_BUFFER, format!("MPI_IN_PLACE is not allowed here: {what}"))
}

#[cold]
fn no_buffer(what: &str) -> Error {
    Error::new(mpi::MPI_ERR_BUFFER, format!("the root has no {what} buffer"))
}
