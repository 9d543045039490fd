//! Collective operations (MPI 5.0, chapter 6), without the C interface.
//!
//! The crate stands on `heddle-p2p`, `heddle-message`, `heddle-comm` and `heddle-settings`.
//! `heddle-comm-management` makes communicators and windows with its operations; `heddle-abi` puts the
//! standard's functions on top.
//!
//! Each file or folder of this table imports only from those below it. Some operations use others:
//! `allgather`, `allreduce` and `reduce_scatter`.
//!
//! | file | idea |
//! |---|---|
//! | `any.rs` | whether something holds in any process |
//! | `form.rs` | blocking, nonblocking, persistent: three forms of what is described once |
//! | `allgather`, `reduce_scatter`, `allreduce` | an operation each: checks, the choice; a file an algorithm |
//! | `alltoall`, `bcast`, `gather`, `reduce`, `scan`, `scatter`, `barrier.rs` | the same |
//! | `neighborhood.rs` | the operations between neighbours in a topology |
//! | `between_groups.rs` | the operations of intercommunicators |
//! | `arguments.rs`, `choices.rs` | checks of arguments; the algorithms and switch points that the user chose |
//! | `shared_reduction` | reductions of long vectors in pieces, on the blackboard |
//! | `basic` | algorithms and parts of algorithms that several operations have |
//! | `conversation` | the description: steps are carried out, or recorded |
//! | `steps` | the steps of an operation, as data |
//! | `blackboard` | steps in memory that the processes share |
//! | `messages` | the messages of an operation, and what becomes of errors |
//! | `data` | where data lie, and computing with them |
//! | `ranks` | who talks to whom: pure arithmetic on ranks |

mod allgather;
mod allreduce;
mod alltoall;
mod any;
mod arguments;
mod barrier;
mod basic;
mod bcast;
mod between_groups;
mod blackboard;
mod choices;
mod conversation;
mod data;
mod form;
mod gather;
mod messages;
mod neighborhood;
mod ranks;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod shared_reduction;
mod steps;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallv, alltoallw};
pub use any::any;
pub use barrier::barrier;
pub use bcast::bcast;
pub use between_groups::tell_both_groups;
pub use conversation::Conversation;
pub use data::{Numbers, Part, Parts, Reduction, TypedParts};
pub use form::{begin, begin_with, init, run};
pub use gather::{gather, gatherv};
pub use neighborhood::{
    neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw,
};
pub use reduce::{reduce, reduce_local};
pub use reduce_scatter::reduce_scatter;
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
