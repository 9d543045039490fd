//! The machine as a tree: which hardware threads are near each other.
//!
//! [`Topology::of_machine`] asks `hwloc`, the library that MPI implementations and resource managers share,
//! which knows about restricted CPU sets, clustered caches and the errors of firmware tables. It is loaded
//! when it is asked for and not linked, so nothing above fails to start where it is missing; the error then
//! says what to install, and a caller that can do without goes on with [`Topology::flat`]. A topology for
//! tests and simulations is written down:
//!
//! ```
//! use heddle_topology::{NodeKind, Topology};
//!
//! let machine: Topology = "2 packages x 4 l3 x 8 cores x 2 threads".parse()?;
//! assert_eq!(machine.hardware_threads().count(), 128);
//! let leaf = machine.leaf(127).expect("it has that many");
//! let kinds: Vec<NodeKind> = leaf.ancestors().map(|node| node.kind()).collect();
//! assert_eq!(kinds, [NodeKind::Core, NodeKind::L3, NodeKind::Package, NodeKind::Machine]);
//! # Ok::<(), heddle_topology::Error>(())
//! ```
//!
//! Levels that say nothing are left out: a node with a single child takes over the child's children, so a
//! machine of two cores is a root with two leaves.
//!
//! The crate uses no other one. `heddle-locks` makes the cohorts of its locks from it, `heddle-window` the
//! levels of window locks, and `heddle-comm-management` reorders the ranks of grids and graphs by
//! [`mapping`].

mod build;
mod describe;
mod error;
mod hwloc;
mod location;
pub mod mapping;
mod tree;
mod units;

pub use error::Error;
pub use location::{LEVELS, Location, common_path};
pub use tree::{MachineNode, NodeKind, Topology};
pub use units::Units;
