//! The topology of a communicator.

use super::object::Comm;
use crate::error::{Error, Result};
use crate::topology::{Cartesian, Graph, Neighbour, Neighbours, VirtualTopology};
use heddle_platform::allocate::reserve;
use heddle_spec::constants as mpi;

impl Comm {
    /// `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH`, or `MPI_UNDEFINED`.
    pub fn topology_status(&self) -> i32 {
        match &self.topology {
            Some(VirtualTopology::Cartesian(_)) => mpi::MPI_CART,
            Some(VirtualTopology::Graph(_)) => mpi::MPI_GRAPH,
            Some(VirtualTopology::Distributed(_)) => mpi::MPI_DIST_GRAPH,
            None => mpi::MPI_UNDEFINED,
        }
    }

    /// The grid.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match &self.topology {
            Some(VirtualTopology::Cartesian(grid)) => Ok(grid),
            _ => Err(missing("Cartesian topology", "MPI_Cart_create")),
        }
    }

    /// The graph that all processes know.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn graph(&self) -> Result<&Graph> {
        match &self.topology {
            Some(VirtualTopology::Graph(graph)) => Ok(graph),
            _ => Err(missing("graph topology", "MPI_Graph_create")),
        }
    }

    /// The process's neighbours in a distributed graph.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has none.
    pub fn neighbours(&self) -> Result<&Neighbours> {
        match &self.topology {
            Some(VirtualTopology::Distributed(neighbours)) => Ok(neighbours),
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

/// The ends of edges, each with the number of its edge; those of edges that lead nowhere are left out.
fn listed(ends: impl ExactSizeIterator<Item = (usize, i32)>) -> Result<Vec<(usize, usize)>> {
    let mut all = Vec::new();
    reserve(&mut all, ends.len())?;
    all.extend(ends.filter_map(|(number, rank)| Some((number, usize::try_from(rank).ok()?))));
    Ok(all)
}

impl Comm {
    /// The edges of this process (MPI 5.0, section 8.6). In each dimension of a grid the first edge leads to
    /// the lower neighbour, whose second edge it is, also where both neighbours are one process.
    ///
    /// # Errors
    /// `MPI_ERR_TOPOLOGY` if the communicator has no topology; `MPI_ERR_NO_MEM`.
    pub fn edges(&self) -> Result<Edges> {
        let rank = self.rank() as i32;
        let ((indegree, sources), (outdegree, destinations)) = match &self.topology {
            Some(VirtualTopology::Cartesian(grid)) => {
                let ranks = grid.neighbours(rank)?;
                let crossed = (0..ranks.len()).map(|number| (number ^ 1, ranks[number ^ 1]));
                ((ranks.len(), listed(crossed)?), (ranks.len(), listed(ranks.iter().copied().enumerate())?))
            }
            Some(VirtualTopology::Graph(graph)) => {
                let ranks = graph.neighbours(rank)?;
                let ends = || listed(ranks.iter().copied().enumerate());
                ((ranks.len(), ends()?), (ranks.len(), ends()?))
            }
            Some(VirtualTopology::Distributed(neighbours)) => {
                let ends = |list: &[Neighbour]| listed(list.iter().map(|end| end.rank).enumerate());
                let (sources, destinations) = (&neighbours.sources, &neighbours.destinations);
                ((sources.len(), ends(sources)?), (destinations.len(), ends(destinations)?))
            }
            None => return Err(missing("topology", "MPI_Cart_create or MPI_Dist_graph_create_adjacent")),
        };
        Ok(Edges { indegree, outdegree, sources, destinations })
    }
}

#[cold]
fn missing(what: &str, maker: &str) -> Error {
    let message = format!("the communicator has no {what}; {maker} makes one");
    Error::new(mpi::MPI_ERR_TOPOLOGY, message)
}
