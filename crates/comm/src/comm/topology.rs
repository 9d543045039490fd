//! The topology of a communicator.

use super::object::Comm;
use crate::error::{Error, Result};
use crate::topology::{Cartesian, Graph, Neighbour, Neighbours, Topology};
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

/// The edges of this process, for neighborhood collectives. Edges of a grid that lead over its border are
/// counted, but not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edges {
    /// The number of edges that come in.
    pub indegree: usize,
    /// The number of edges that go out.
    pub outdegree: usize,
    /// The edges that come in: their numbers and the ranks that they come from. If several come from one
    /// rank, they stand in the order in which that rank has them among its destinations.
    pub sources: Vec<(usize, usize)>,
    /// The edges that go out: their numbers and the ranks that they lead to.
    pub destinations: Vec<(usize, usize)>,
}

impl Edges {
    fn new(sources: &[i32], destinations: &[i32], order: impl Fn(usize) -> usize) -> Edges {
        let listed = |ranks: &[i32], numbers: &mut dyn Iterator<Item = usize>| {
            numbers.filter_map(|number| Some((number, usize::try_from(ranks[number]).ok()?))).collect()
        };
        Edges {
            indegree: sources.len(),
            outdegree: destinations.len(),
            sources: listed(sources, &mut (0..sources.len()).map(order)),
            destinations: listed(destinations, &mut (0..destinations.len())),
        }
    }
}

impl Comm {
    /// The edges of this process (MPI 5.0, section 8.6). In each dimension of a grid the first edge leads to
    /// the lower neighbour, whose second edge it is, also where both neighbours are one process.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has no topology.
    pub fn edges(&self) -> Result<Edges> {
        let rank = self.rank() as i32;
        match &self.topology {
            Some(Topology::Cartesian(grid)) => {
                let mut ranks = Vec::new();
                for dimension in 0..grid.dims.len() as i32 {
                    let (lower, upper) = grid.shift(rank, dimension, 1)?;
                    ranks.extend([lower, upper]);
                }
                Ok(Edges::new(&ranks, &ranks, |number| number ^ 1))
            }
            Some(Topology::Graph(graph)) => {
                let ranks = graph.neighbours(rank)?;
                Ok(Edges::new(ranks, ranks, |number| number))
            }
            Some(Topology::Distributed(neighbours)) => {
                let ranks = |list: &[Neighbour]| list.iter().map(|end| end.rank).collect::<Vec<_>>();
                let (sources, destinations) = (ranks(&neighbours.sources), ranks(&neighbours.destinations));
                Ok(Edges::new(&sources, &destinations, |number| number))
            }
            None => Err(missing("topology", "MPI_Cart_create or MPI_Dist_graph_create_adjacent")),
        }
    }
}

#[cold]
fn missing(what: &str, maker: &str) -> Error {
    let message = format!("the communicator has no {what}; {maker} makes one");
    Error::new(mpi::MPI_ERR_TOPOLOGY, message)
}
