//! Virtual topologies (MPI 5.0, chapter 8).
//!
//! | file | idea |
//! |---|---|
//! | `cartesian.rs` | grids: coordinates, ranks, shifts |
//! | `create.rs` | communicators with a topology |
//! | `dims.rs` | `MPI_Dims_create` |
//! | `distribute.rs` | edges of distributed graphs on their way to their ends |
//! | `graph.rs` | graphs, of which everybody knows all or only its own neighbours |

mod cartesian;
mod create;
mod dims;
mod distribute;
mod graph;

pub use cartesian::Cartesian;
pub use create::{cart_create, cart_map, cart_sub, dist_graph_adjacent, graph_create, graph_map};
pub use dims::dims_create;
pub use distribute::{Edge, dist_graph_create};
pub use graph::{Graph, Neighbour, Neighbours};

use crate::comm::Comm;
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that all processes know.
    Graph(Graph),
    /// A graph of which each process knows its own neighbours.
    Distributed(Neighbours),
}

impl Comm {
    /// `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH`, or `MPI_UNDEFINED`.
    pub fn topology_status(&self) -> i32 {
        match &self.topology {
            Some(Topology::Cartesian(_)) => mpi::MPI_CART,
            Some(Topology::Graph(_)) => mpi::MPI_GRAPH,
            Some(Topology::Distributed(_)) => mpi::MPI_DIST_GRAPH,
            None => mpi::MPI_UNDEFINED,
        }
    }

    /// The grid.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match &self.topology {
            Some(Topology::Cartesian(grid)) => Ok(grid),
            _ => Err(missing("Cartesian topology", "MPI_Cart_create")),
        }
    }

    /// The graph that all processes know.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn graph(&self) -> Result<&Graph> {
        match &self.topology {
            Some(Topology::Graph(graph)) => Ok(graph),
            _ => Err(missing("graph topology", "MPI_Graph_create")),
        }
    }

    /// The process's neighbours in a distributed graph.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn neighbours(&self) -> Result<&Neighbours> {
        match &self.topology {
            Some(Topology::Distributed(neighbours)) => Ok(neighbours),
            _ => Err(missing("distributed graph topology", "MPI_Dist_graph_create_adjacent")),
        }
    }
}

#[cold]
fn missing(what: &str, maker: &str) -> Error {
    let message = format!("the communicator has no {what}; {maker} makes one");
    Error::new(mpi::MPI_ERR_TOPOLOGY, message)
}

/// A rank that does not exist in a topology.
#[cold]
fn bad_rank(rank: i32, size: usize) -> Error {
    let message = format!("there is no rank {rank}: the topology's {size} ranks go from 0 to {}", size - 1);
    Error::new(mpi::MPI_ERR_RANK, message)
}
