//! The topology of a communicator.

use super::object::Comm;
use crate::error::{Error, Result};
use crate::topology::{Cartesian, Graph, Neighbours, Topology};
use heddle_spec::constants as mpi;

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
