//! Graphs.

use super::{length, room};
use crate::argument::{DistGraphCreateAdjacentArguments, DistGraphCreateArguments, List, ListOut, Out};
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::info;
use heddle_comm::topology::{Graph, Neighbour, Neighbours};
use heddle_comm_management::Edge;
use heddle_platform::allocate::{collected, copied, reserve};
use heddle_spec::constants as mpi;
use heddle_spec::handle::CommHandle;
use std::ffi::c_int;

/// The graph of the standard's arrays; the last element of `index` is the number of edges.
fn graph(nodes: c_int, index: List<'_, c_int>, edges: List<'_, c_int>) -> Result<Graph> {
    let index = index.slice(length(nodes, "the number of nodes", mpi::MPI_ERR_ARG)?)?;
    let count = length(index.last().copied().unwrap_or(0), "the number of edges", mpi::MPI_ERR_ARG)?;
    Graph::new(copied(index)?, copied(edges.slice(count)?)?)
}

pub(crate) fn graph_create(
    comm: CommHandle,
    nodes: c_int,
    index: List<'_, c_int>,
    edges: List<'_, c_int>,
    reorder: bool,
    new: Out<CommHandle>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let (graph, new) = (graph(nodes, index, edges), new.variable()?);
    *new = CommHandle(heddle_comm_management::graph_create(&comm, graph, reorder)?);
    Ok(())
}

pub(crate) fn graph_map(
    comm: CommHandle,
    nodes: c_int,
    index: List<'_, c_int>,
    edges: List<'_, c_int>,
    new_rank: Out<c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    new_rank.set(heddle_comm_management::graph_map(&comm, graph(nodes, index, edges)?.index.len())?)
}

pub(crate) fn graphdims_get(comm: CommHandle, nodes: Out<c_int>, edges: Out<c_int>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let graph = comm.graph()?;
    nodes.set(graph.index.len() as c_int)?;
    edges.set(graph.edges.len() as c_int)
}

pub(crate) fn graph_get(
    comm: CommHandle,
    maxindex: c_int,
    maxedges: c_int,
    index: ListOut<'_, c_int>,
    edges: ListOut<'_, c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let graph = comm.graph()?;
    index.slice(room(maxindex, graph.index.len(), "maxindex")?)?.copy_from_slice(&graph.index);
    edges.slice(room(maxedges, graph.edges.len(), "maxedges")?)?.copy_from_slice(&graph.edges);
    Ok(())
}

pub(crate) fn graph_neighbors_count(comm: CommHandle, rank: c_int, count: Out<c_int>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    count.set(comm.graph()?.neighbours(rank)?.len() as c_int)
}

pub(crate) fn graph_neighbors(
    comm: CommHandle,
    rank: c_int,
    max: c_int,
    neighbours: ListOut<'_, c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let found = comm.graph()?.neighbours(rank)?;
    neighbours.slice(room(max, found.len(), "maxneighbors")?)?.copy_from_slice(found);
    Ok(())
}

/// Ranks with their weights; without weights each has the weight 1.
fn weighted(n: c_int, ranks: List<'_, c_int>, weights: Option<List<'_, c_int>>) -> Result<Vec<Neighbour>> {
    let n = length(n, "a number of edges", mpi::MPI_ERR_ARG)?;
    let ranks = ranks.slice(n)?;
    if n > 0 && weights.as_ref().is_some_and(|weights| weights.is_at(mpi::MPI_WEIGHTS_EMPTY)) {
        let message = format!(
            "MPI_WEIGHTS_EMPTY is for no edges, but there are {n}: give as many weights, or MPI_UNWEIGHTED"
        );
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    let Some(weights) = weights else {
        return Ok(collected(ranks.iter().map(|&rank| Neighbour { rank, weight: 1 }))?);
    };
    let pairs = ranks.iter().zip(weights.slice(n)?);
    Ok(collected(pairs.map(|(&rank, &weight)| Neighbour { rank, weight }))?)
}

pub(crate) fn dist_graph_create_adjacent(call: DistGraphCreateAdjacentArguments<'_>) -> Result<()> {
    let comm = CommRef::from_handle(call.comm_old.0)?;
    info::hints(call.info.0)?;
    // Either all processes give weights or none does.
    let weights_given =
        !call.sourceweights.is_at(mpi::MPI_UNWEIGHTED) && !call.destweights.is_at(mpi::MPI_UNWEIGHTED);
    let weights = |list| weights_given.then_some(list);
    let neighbours = || {
        Ok(Neighbours {
            sources: weighted(call.indegree, call.sources, weights(call.sourceweights))?,
            destinations: weighted(call.outdegree, call.destinations, weights(call.destweights))?,
            weighted: weights_given,
        })
    };
    let (neighbours, new) = (neighbours(), call.comm_dist_graph.variable()?);
    *new = CommHandle(heddle_comm_management::dist_graph_adjacent(&comm, neighbours, call.reorder)?);
    Ok(())
}

pub(crate) fn dist_graph_create(call: DistGraphCreateArguments<'_>) -> Result<()> {
    let comm = CommRef::from_handle(call.comm_old.0)?;
    info::hints(call.info.0)?;
    let n = length(call.n, "the number of sources", mpi::MPI_ERR_ARG)?;
    let (sources, degrees) = (call.sources.slice(n)?, call.degrees.slice(n)?);
    let mut count = 0_i64;
    for &degree in degrees {
        count += length(degree, "a degree", mpi::MPI_ERR_ARG)? as i64;
    }
    let count = c_int::try_from(count).map_err(|_| {
        let message = format!("the degrees add up to {count} edges, more than an int can count");
        Error::new(mpi::MPI_ERR_ARG, message)
    })?;
    let weights_given = !call.weights.is_at(mpi::MPI_UNWEIGHTED);
    // The program's edges first: only they show that memory for so many is used rightly.
    let ends = weighted(count, call.destinations, weights_given.then_some(call.weights));
    let edges = ends.and_then(|ends| {
        let sources = sources.iter().zip(degrees);
        let sources = sources.flat_map(|(&source, &degree)| std::iter::repeat_n(source, degree as usize));
        let mut edges = Vec::new();
        reserve(&mut edges, ends.len())?;
        edges.extend(sources.zip(ends).map(|(source, end)| Edge {
            source,
            destination: end.rank,
            weight: end.weight,
        }));
        Ok(edges)
    });
    let new = call.comm_dist_graph.variable()?;
    *new = CommHandle(heddle_comm_management::dist_graph_create(&comm, edges, weights_given, call.reorder)?);
    Ok(())
}

pub(crate) fn dist_graph_neighbors_count(
    comm: CommHandle,
    indegree: Out<c_int>,
    outdegree: Out<c_int>,
    weighted: Out<c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let neighbours = comm.neighbours()?;
    indegree.set(neighbours.sources.len() as c_int)?;
    outdegree.set(neighbours.destinations.len() as c_int)?;
    weighted.set(c_int::from(neighbours.weighted))
}

/// Stores neighbours until there are no more, or no more room.
fn store(
    found: &[Neighbour],
    max: c_int,
    ranks: ListOut<'_, c_int>,
    weights: Option<ListOut<'_, c_int>>,
) -> Result<()> {
    let n = length(max, "a maximal degree", mpi::MPI_ERR_ARG)?.min(found.len());
    for (out, neighbour) in ranks.slice(n)?.iter_mut().zip(found) {
        *out = neighbour.rank;
    }
    if let Some(weights) = weights {
        for (out, neighbour) in weights.slice(n)?.iter_mut().zip(found) {
            *out = neighbour.weight;
        }
    }
    Ok(())
}

pub(crate) fn dist_graph_neighbors(
    comm: CommHandle,
    max_indegree: c_int,
    sources: ListOut<'_, c_int>,
    source_weights: ListOut<'_, c_int>,
    max_outdegree: c_int,
    destinations: ListOut<'_, c_int>,
    dest_weights: ListOut<'_, c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let neighbours = comm.neighbours()?;
    let wanted = |weights: ListOut<'_, c_int>| neighbours.weighted && !weights.is_at(mpi::MPI_UNWEIGHTED);
    let sources_wanted = wanted(source_weights);
    store(&neighbours.sources, max_indegree, sources, sources_wanted.then_some(source_weights))?;
    let destinations_wanted = wanted(dest_weights);
    store(&neighbours.destinations, max_outdegree, destinations, destinations_wanted.then_some(dest_weights))
}
