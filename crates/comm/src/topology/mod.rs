//! Virtual topologies (MPI 5.0, chapter 8).
//!
//! | file | idea |
//! |---|---|
//! | `cartesian.rs` | grids: coordinates, ranks, shifts |
//! | `dims.rs` | `MPI_Dims_create` |
//! | `graph.rs` | graphs, of which everybody knows all or only its own neighbours |
//! | `rank.rs` | the error for a rank that a topology does not have |

mod cartesian;
mod dims;
mod graph;
mod rank;

pub use cartesian::Cartesian;
pub use dims::dims_create;
pub use graph::check_weight;
pub use graph::{Graph, Neighbour, Neighbours};
pub use rank::bad_rank;

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VirtualTopology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that all processes know.
    Graph(Graph),
    /// A graph of which each process knows its own neighbours.
    Distributed(Neighbours),
}
