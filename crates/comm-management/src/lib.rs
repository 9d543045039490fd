//! Making and freeing communicators (MPI 5.0, sections 7.4.2 and 7.4.3).
//!
//! The crate stands on `heddle-collective`, by which the processes agree, and on `heddle-comm`, which has the
//! communicators. Functions return [`heddle_comm::error::Result`].
//!
//! | file | idea |
//! |---|---|
//! | `context.rs` | how the members of a new communicator learn its context |
//! | `dup.rs`, `idup/` | duplicates, blocking and not |
//! | `create.rs`, `split.rs` | communicators of a group, of a colour, of a machine |
//! | `from_groups.rs` | communicators of groups, without a parent |
//! | `intercomm.rs` | intercommunicators |
//! | `either.rs` | operations on both kinds |
//! | `topology.rs`, `distributed_graph.rs` | communicators with a topology |
//! | `reorder.rs`, `locations.rs` | new ranks for neighbours to be near, from where the processes run |
//! | `insert.rs` | a new communicator gets its place in the table of objects |
//! | `gather.rs` | lists of all processes, gathered by each |
//! | `memory.rs` | a lack of memory in one process is one of all |
//! | `free.rs` | the end of a communicator |

mod context;
mod create;
mod distributed_graph;
mod dup;
mod either;
mod free;
mod from_groups;
mod gather;
mod idup;
mod insert;
mod intercomm;
mod locations;
mod memory;
mod reorder;
mod split;
mod topology;

pub use create::create_group;
pub use distributed_graph::{Edge, dist_graph_create};
pub use either::{create, dup, dup_with_info, split, split_type};
pub use free::{disconnect, free, run_delete_callbacks_of_predefined};
pub use from_groups::{create_from_group, intercomm_create_from_groups};
pub use idup::{idup, idup_with_info};
pub use intercomm::{intercomm_create, intercomm_merge};
pub use topology::{cart_create, cart_map, cart_sub, dist_graph_adjacent, graph_create, graph_map};
