//! Which process takes which node of a grid or graph of communicating processes, so that neighbours run near
//! each other.
//!
//! The *cost* of a mapping is the sum over all edges of their weight times the distance of the processes at
//! their ends ([`Location::distance`]). To find the least is a hard problem; here a few mappings are laid
//! out, the cheapest is refined by swaps, and the work is bounded. The mapping that is found never costs more
//! than the one in which process *i* takes node *i*, and that one is kept if no better is found. The same
//! arguments give the same mapping in every process.
//!
//! | file | idea |
//! |---|---|
//! | `edges.rs` | edges, and the cost of a mapping |
//! | `grid.rs` | the edges of a grid, and its nodes in blocks of the sizes of the machine's elements |
//! | `growth.rs` | the nodes of any graph in an order in which neighbours come close together |
//! | `swaps.rs` | swaps of two nodes that lower the cost |

mod edges;
mod grid;
mod growth;
mod swaps;

pub use edges::MappingEdge;

use crate::location::{LEVELS, Location};
use edges::{Adjacency, mapped};
use heddle_platform::allocate::OutOfMemory;

/// For each node of a graph, as many as there are processes, the process that takes it.
///
/// # Errors
/// There is no memory for the edges.
///
/// # Panics
/// If an edge leads to no node.
pub fn of_graph(locations: &[Location], edges: &[MappingEdge]) -> Result<Vec<usize>, OutOfMemory> {
    if has_choice(locations) { best(locations, edges, None) } else { Ok(identity(locations.len())) }
}

/// For each node of a grid, in row-major order, the process that takes it. Each dimension has a number of
/// nodes and is a ring or not; there are as many nodes as processes.
///
/// # Errors
/// There is no memory for the edges.
///
/// # Panics
/// If the dimensions have another number of nodes.
pub fn of_grid(locations: &[Location], dims: &[(usize, bool)]) -> Result<Vec<usize>, OutOfMemory> {
    if !has_choice(locations) {
        return Ok(identity(locations.len()));
    }
    let sizes: Vec<usize> = dims.iter().map(|(size, _)| *size).collect();
    assert_eq!(sizes.iter().product::<usize>(), locations.len(), "a process for each node");
    let blocks = grid::in_blocks(&sizes, &element_sizes(locations));
    best(locations, &grid::edges(dims), Some(blocks))
}

fn identity(nodes: usize) -> Vec<usize> {
    (0..nodes).collect()
}

/// Returns true if some mapping may cost less than another one.
fn has_choice(locations: &[Location]) -> bool {
    locations.len() > 2 && locations.iter().any(|location| *location != locations[0])
}

/// The cheapest mapping that is found, with another order of the nodes to try.
fn best(
    locations: &[Location],
    edges: &[MappingEdge],
    order: Option<Vec<usize>>,
) -> Result<Vec<usize>, OutOfMemory> {
    let nodes = locations.len();
    let adjacency = Adjacency::new(nodes, edges)?;
    let cost = |mapping: &[usize]| adjacency.cost(&mapped(locations, mapping));
    // Processes that lie in one element of the machine follow each other.
    let mut by_location = identity(nodes);
    by_location.sort_by_key(|process| locations[*process]);
    let grown = growth::order(&adjacency, &mapped(locations, &by_location));
    let laid = |order: Vec<usize>| {
        let mut mapping = vec![0; nodes];
        for (node, process) in order.into_iter().zip(&by_location) {
            mapping[node] = *process;
        }
        mapping
    };
    let unchanged = identity(nodes);
    let limit = cost(&unchanged);
    let orders = [Some(unchanged.clone()), order, Some(grown)];
    let laid_out = orders.into_iter().flatten().map(laid);
    // Of equal ones the first is taken.
    let candidates = std::iter::once(unchanged.clone()).chain(laid_out);
    let mut found = candidates.min_by_key(|mapping| cost(mapping)).unwrap_or_else(|| unchanged.clone());
    swaps::refine(&adjacency, locations, &mut found);
    Ok(if cost(&found) < limit { found } else { unchanged })
}

/// How many processes each element of a level has, level by level from the largest elements on, as far as all
/// elements of the level have the same number.
fn element_sizes(locations: &[Location]) -> Vec<usize> {
    let mut sorted = locations.to_vec();
    sorted.sort();
    let mut sizes = Vec::new();
    for level in 1..=LEVELS {
        let same = |one: &Location, other: &Location| one.shared_levels(*other) >= level;
        let mut elements = sorted.chunk_by(same).map(<[Location]>::len);
        let Some(first) = elements.next() else { break };
        if !elements.all(|size| size == first) {
            break;
        }
        sizes.push(first);
    }
    sizes
}
