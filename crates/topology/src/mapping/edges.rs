//! Edges, and the cost of a mapping.

use crate::location::Location;
use heddle_platform::allocate::{OutOfMemory, filled};

/// Communication between two nodes. The direction does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingEdge {
    /// The nodes.
    pub ends: [usize; 2],
    /// How much communication, in any unit.
    pub weight: u32,
}

/// The edges of each node.
pub(super) struct Adjacency {
    /// Where the edges of each node begin; at the end the number of all.
    starts: Vec<usize>,
    /// The other end and the weight.
    neighbours: Vec<(usize, u32)>,
}

impl Adjacency {
    /// Without the edges that cost nothing: those of weight 0, and those from a node to itself.
    pub(super) fn new(nodes: usize, edges: &[MappingEdge]) -> Result<Self, OutOfMemory> {
        let costly = || edges.iter().filter(|edge| edge.weight > 0 && edge.ends[0] != edge.ends[1]);
        let mut starts = vec![0; nodes + 1];
        for end in costly().flat_map(|edge| edge.ends) {
            starts[end + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut neighbours = filled(starts[nodes], (0, 0))?;
        for MappingEdge { ends: [one, other], weight } in costly().copied() {
            for (node, neighbour) in [(one, other), (other, one)] {
                neighbours[next[node]] = (neighbour, weight);
                next[node] += 1;
            }
        }
        Ok(Self { starts, neighbours })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of a node, with the weights of the edges; each edge counts by itself.
    pub(super) fn of(&self, node: usize) -> &[(usize, u32)] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }

    /// The cost of the edges of a node, if that node were at `there` and the others are where they are; edges
    /// to the node `except` do not count.
    pub(super) fn cost_of(&self, node: usize, there: Location, at: &[Location], except: usize) -> u64 {
        let edges = self.of(node).iter().filter(|(neighbour, _)| *neighbour != except);
        edges.fold(0, |sum: u64, (neighbour, weight)| {
            sum.saturating_add(u64::from(*weight) * there.distance(at[*neighbour]) as u64)
        })
    }

    /// The cost of all edges, each counted at both ends, if the nodes are at these locations.
    pub(super) fn cost(&self, at: &[Location]) -> u64 {
        let costs = (0..self.nodes()).map(|node| self.cost_of(node, at[node], at, node));
        costs.fold(0, u64::saturating_add)
    }
}

/// The location of the process that takes each node.
pub(super) fn mapped(locations: &[Location], mapping: &[usize]) -> Vec<Location> {
    mapping.iter().map(|process| locations[*process]).collect()
}
