//! Which process gets which rank in a communicator with a topology, if the program lets the library reorder
//! the ranks (MPI 5.0, sections 8.5.1, 8.5.3, 8.5.4): neighbours come near each other in the machine.
//!
//! The processes tell each other where they are bound (`locations.rs`), and each computes the same mapping
//! ([`heddle_topology::mapping`]). Processes that may run anywhere keep their ranks.

use crate::gather;
use crate::locations;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::topology::{Cartesian, Graph, Neighbour, Neighbours};
use heddle_platform::allocate::{OutOfMemory, collected, reserve};
use heddle_topology::Location;
use heddle_topology::mapping::{MappingEdge, of_graph, of_grid};

/// For each new rank the old one.
pub(crate) type Order = Vec<i32>;

/// The ranks for a grid. Collective; all processes give the same grid, which is not larger than the
/// communicator.
///
/// # Errors
/// `MPI_ERR_COMM` for an intercommunicator; `MPI_ERR_NO_MEM`; those of the messages.
pub(crate) fn grid(comm: &CommRef, grid: &Cartesian) -> Result<Order> {
    // A dimension of one node has no edges, and there may be any number of them; of others there are at most
    // 31.
    let all = grid.dims.iter().copied().zip(grid.periods.iter().copied());
    let dims: Vec<(usize, bool)> = all.filter(|(size, _)| *size > 1).collect();
    order(comm, grid.size(), |locations| Ok(of_grid(locations, &dims)?))
}

/// The ranks for a graph. Collective; all processes give the same graph, which is not larger than the
/// communicator.
///
/// # Errors
/// `MPI_ERR_COMM` for an intercommunicator; `MPI_ERR_NO_MEM`; those of the messages.
pub(crate) fn graph(comm: &CommRef, graph: &Graph) -> Result<Order> {
    order(comm, graph.index.len(), |locations| {
        let mut edges = Vec::new();
        reserve(&mut edges, graph.edges.len())?;
        for node in 0..graph.index.len() {
            let ends = graph.neighbours(node as i32)?;
            edges.extend(ends.iter().map(|end| MappingEdge { ends: [node, *end as usize], weight: 1 }));
        }
        Ok(of_graph(locations, &edges)?)
    })
}

/// The ranks for a distributed graph, of which each process gives its neighbours, and the neighbours of this
/// process's new rank. Collective.
///
/// # Errors
/// `MPI_ERR_COMM` for an intercommunicator; `MPI_ERR_NO_MEM`; those of the messages.
pub(crate) fn distributed(comm: &CommRef, neighbours: Neighbours) -> Result<(Order, Neighbours)> {
    let mut given = Vec::new();
    let order = order(comm, comm.size(), |locations| {
        given = gather::lists(comm, to_words(&neighbours).map_err(Error::from))?;
        let mut edges = Vec::new();
        for (node, words) in given.iter().enumerate() {
            // Each edge stands at both its ends; here it counts where it begins.
            let (_, destinations) = from_words(words)?;
            let edge =
                |to: Neighbour| MappingEdge { ends: [node, to.rank as usize], weight: to.weight as u32 };
            reserve(&mut edges, destinations.len())?;
            edges.extend(destinations.into_iter().map(edge));
        }
        Ok(of_graph(locations, &edges)?)
    })?;
    let rank = order.iter().position(|old| *old == comm.rank() as i32);
    let Some(words) = rank.and_then(|rank| given.get(rank)) else { return Ok((order, neighbours)) };
    let (sources, destinations) = from_words(words)?;
    Ok((order, Neighbours { sources, destinations, weighted: neighbours.weighted }))
}

/// The ranks for the first `nodes` processes: as `mapping` finds them if processes are known to run apart,
/// else the old ones.
fn order(
    comm: &CommRef,
    nodes: usize,
    mapping: impl FnOnce(&[Location]) -> Result<Vec<usize>>,
) -> Result<Order> {
    comm.check_intra()?;
    let unchanged = || (0..nodes as i32).collect();
    // Two processes are equally far from each other whatever their ranks.
    if nodes <= 2 {
        return Ok(unchanged());
    }
    let locations = locations::of_first(comm, nodes)?;
    if locations.iter().all(|location| *location == locations[0]) {
        return Ok(unchanged());
    }
    Ok(mapping(&locations)?.into_iter().map(|old| old as i32).collect())
}

/// The number of sources, then rank and weight of each source and each destination.
fn to_words(neighbours: &Neighbours) -> Result<Vec<i32>, OutOfMemory> {
    let (sources, destinations) = (&neighbours.sources, &neighbours.destinations);
    let mut words = Vec::new();
    reserve(&mut words, 1 + 2 * (sources.len() + destinations.len()))?;
    words.push(sources.len() as i32);
    words.extend(sources.iter().chain(destinations).flat_map(|end| [end.rank, end.weight]));
    Ok(words)
}

/// The sources and the destinations.
fn from_words(words: &[i32]) -> Result<(Vec<Neighbour>, Vec<Neighbour>), OutOfMemory> {
    let Some((count, pairs)) = words.split_first() else { return Ok((Vec::new(), Vec::new())) };
    let (pairs, _) = pairs.as_chunks();
    let (sources, destinations) = pairs.split_at(*count as usize);
    let ends = |pairs: &[[i32; 2]]| collected(pairs.iter().map(|&[rank, weight]| Neighbour { rank, weight }));
    Ok((ends(sources)?, ends(destinations)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_travel_as_words() {
        let list = |ranks: &[i32]| -> Vec<Neighbour> {
            ranks.iter().map(|&rank| Neighbour { rank, weight: rank + 7 }).collect()
        };
        for (sources, destinations) in
            [(list(&[]), list(&[])), (list(&[3, 1, 3]), list(&[0])), (list(&[]), list(&[2, 9]))]
        {
            let neighbours = Neighbours { sources, destinations, weighted: true };
            let (sources, destinations) =
                from_words(&to_words(&neighbours).expect("memory")).expect("memory");
            assert_eq!(neighbours, Neighbours { sources, destinations, weighted: true });
        }
    }
}
