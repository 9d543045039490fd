//! Graphs: `MPI_Graph_create`, where everybody knows all edges, and distributed graphs, where each process
//! knows its own (MPI 5.0, sections 8.5.3 to 8.5.5).

use super::rank::bad_rank;
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;

/// A graph that all processes know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// For each node the number of edges of all nodes up to and including it.
    pub index: Vec<i32>,
    /// The ends of all edges, ordered by node.
    pub edges: Vec<i32>,
}

impl Graph {
    /// A graph from the standard's two arrays.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` if the index decreases or does not fit the edges; `MPI_ERR_RANK` if
    /// an edge leads to no node.
    pub fn new(index: Vec<i32>, edges: Vec<i32>) -> Result<Graph> {
        let mut before = 0;
        for (node, &count) in index.iter().enumerate() {
            if count < before {
                let message =
                    format!("the index of the graph decreases at node {node}: {before}, then {count}");
                return Err(Error::new(mpi::MPI_ERR_ARG, message));
            }
            before = count;
        }
        if before as usize != edges.len() {
            let message =
                format!("the index of the graph counts {before} edges, but there are {}", edges.len());
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
        let nodes = index.len();
        match edges.iter().find(|end| **end as usize >= nodes) {
            Some(&end) => Err(bad_rank(end, nodes)),
            None => Ok(Graph { index, edges }),
        }
    }

    /// The neighbours of a node.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if there is no such node.
    pub fn neighbours(&self, rank: i32) -> Result<&[i32]> {
        let node = usize::try_from(rank).unwrap_or(usize::MAX);
        let end = *self.index.get(node).ok_or_else(|| bad_rank(rank, self.index.len()))?;
        let start = if node == 0 { 0 } else { self.index[node - 1] };
        Ok(&self.edges[start as usize..end as usize])
    }
}

/// One end of an edge, with the edge's weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Rank.
    pub rank: i32,
    /// Weight; 1 in a graph without weights.
    pub weight: i32,
}

/// The edges of one process in a distributed graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbours {
    /// The sources of edges, in the order in which they were given.
    pub sources: Vec<Neighbour>,
    /// The destinations of edges.
    pub destinations: Vec<Neighbour>,
    /// True if weights were given.
    pub weighted: bool,
}

impl Neighbours {
    /// Checks ranks and weights for a communicator of `size`.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if a rank does not exist; `MPI_ERR_ARG` if a weight is negative.
    pub fn check(&self, size: usize) -> Result<()> {
        for neighbour in self.sources.iter().chain(&self.destinations) {
            if neighbour.rank as usize >= size {
                return Err(bad_rank(neighbour.rank, size));
            }
            check_weight(neighbour.weight)?;
        }
        Ok(())
    }
}

/// Checks the weight of an edge.
///
/// # Errors
/// `MPI_ERR_ARG` if it is negative.
pub fn check_weight(weight: i32) -> Result<()> {
    if weight >= 0 {
        return Ok(());
    }
    Err(Error::new(mpi::MPI_ERR_ARG, format!("an edge has the negative weight {weight}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_the_standards_example() {
        let graph = Graph::new(vec![2, 3, 4, 6], vec![1, 3, 0, 3, 0, 2]).expect("valid");
        let of = |rank| graph.neighbours(rank).expect("a node").to_vec();
        assert_eq!((0..4).map(of).collect::<Vec<_>>(), [vec![1, 3], vec![0], vec![3], vec![0, 2]]);
        for wrong in [-1, 4] {
            assert_eq!(graph.neighbours(wrong).expect_err("no node").code(), mpi::MPI_ERR_RANK);
        }
    }

    #[test]
    fn broken_graphs() {
        for (index, edges, class) in [
            (vec![2, 1], vec![0, 1], mpi::MPI_ERR_ARG),
            (vec![1, 3], vec![0, 1], mpi::MPI_ERR_ARG),
            (vec![-1, 2], vec![0, 1], mpi::MPI_ERR_ARG),
            (vec![1, 2], vec![0, 2], mpi::MPI_ERR_RANK),
            (vec![1, 2], vec![0, -1], mpi::MPI_ERR_RANK),
        ] {
            assert_eq!(Graph::new(index, edges).expect_err("broken").code(), class);
        }
    }
}
