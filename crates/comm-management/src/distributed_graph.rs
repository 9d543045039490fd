//! `MPI_Dist_graph_create`: any process may name any edges, so each process must learn its own edges.
//!
//! Every edge is sent to both its ends. The edges for one process travel in one message, after their number.

use crate::memory::if_all;
use crate::topology::dist_graph_adjacent;
use heddle_collective::{Numbers, Part, Parts, alltoall, alltoallv, run};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_comm::error::Result;
use heddle_comm::topology::{Neighbour, Neighbours, bad_rank, check_weight};
use heddle_platform::allocate::{filled, push, reserve};
use heddle_spec::constants as mpi;

/// An edge of a distributed graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Rank.
    pub source: i32,
    /// Rank.
    pub destination: i32,
    /// Weight; 1 in a graph without weights.
    pub weight: i32,
}

/// An edge in a message to one of its ends: which end the receiver is, the rank of the other end, the weight.
type Told = [i32; 3];

const SOURCE: i32 = 0;
const DESTINATION: i32 = 1;

/// `MPI_Dist_graph_create` (MPI 5.0, section 8.5.4): all processes of the communicator, each with the edges
/// that it or others named for its rank, which is a new one if the processes are reordered.
///
/// # Errors
/// That of `edges`; `MPI_ERR_RANK`, `MPI_ERR_ARG` for ranks and weights that cannot be; `MPI_ERR_NO_MEM`, in
/// all processes if one lacks memory.
pub fn dist_graph_create(
    comm: &CommRef,
    edges: Result<Vec<Edge>>,
    weighted: bool,
    may_reorder: bool,
) -> Result<usize> {
    let to_tell = edges.and_then(|edges| to_both_ends(&edges, comm.size()));
    let heard = exchange(comm, &if_all(comm, to_tell)?)?;
    dist_graph_adjacent(comm, neighbours(&heard, weighted), may_reorder)
}

/// Lists the edges for both their ends, by rank.
fn to_both_ends(edges: &[Edge], size: usize) -> Result<Vec<Vec<Told>>> {
    let mut to_tell: Vec<Vec<Told>> = vec![Vec::new(); size];
    for &Edge { source, destination, weight } in edges {
        check_weight(weight)?;
        for (end, who, other) in [(SOURCE, source, destination), (DESTINATION, destination, source)] {
            let list = to_tell.get_mut(who as usize).ok_or_else(|| bad_rank(who, size))?;
            push(list, [end, other, weight])?;
        }
    }
    Ok(to_tell)
}

/// The neighbours of a rank that has heard this.
fn neighbours(heard: &[Told], weighted: bool) -> Result<Neighbours> {
    let (mut sources, mut destinations) = (Vec::new(), Vec::new());
    for &[end, rank, weight] in heard {
        let list = if end == SOURCE { &mut destinations } else { &mut sources };
        push(list, Neighbour { rank, weight })?;
    }
    Ok(Neighbours { sources, destinations, weighted })
}

/// Sends each rank its list; returns the lists from all ranks, in their order.
fn exchange(comm: &CommRef, to_tell: &[Vec<Told>]) -> Result<Vec<Told>> {
    let word = datatype::from_handle(mpi::MPI_INT64_T)?;
    let mut out_counts: Vec<i64> =
        to_tell.iter().map(|list| (list.len() * size_of::<Told>()) as i64).collect();
    let mut in_counts = vec![0i64; to_tell.len()];
    // SAFETY: the vector has a word for each rank and outlives the call.
    let outgoing = unsafe { Part::new(out_counts.as_mut_ptr().cast(), 1, &word) }?;
    // SAFETY: the vector has a word for each rank and outlives the call.
    let incoming = unsafe { Part::new(in_counts.as_mut_ptr().cast(), 1, &word) }?;
    run(comm, |talk| alltoall(talk, Some(outgoing), incoming))?;

    let byte = datatype::from_handle(mpi::MPI_BYTE)?;
    let (mut told, mut heard) = if_all(comm, room(to_tell, &in_counts))?;
    let [out_displs, in_displs] = [&out_counts, &in_counts].map(|counts| starts(counts));
    let [out_counts, out_displs, in_counts, in_displs] =
        [&out_counts, &out_displs, &in_counts, &in_displs].map(|numbers| Numbers::Large(numbers));
    // SAFETY: the counts are those of the vector, which outlives the call.
    let outgoing = unsafe { Parts::new(told.as_mut_ptr().cast(), out_counts, out_displs, &byte) }?;
    // SAFETY: the counts are those of the vector, which outlives the call.
    let incoming = unsafe { Parts::new(heard.as_mut_ptr().cast(), in_counts, in_displs, &byte) }?;
    // It needs memory that processes share, too.
    if_all(comm, run(comm, |talk| alltoallv(talk, Some(outgoing), incoming)))?;
    Ok(heard)
}

/// All that is to be sent, and room for what is to come.
fn room(to_tell: &[Vec<Told>], in_counts: &[i64]) -> Result<(Vec<Told>, Vec<Told>)> {
    let mut told = Vec::new();
    reserve(&mut told, to_tell.iter().map(Vec::len).sum())?;
    to_tell.iter().for_each(|list| told.extend_from_slice(list));
    Ok((told, filled(in_counts.iter().sum::<i64>() as usize / size_of::<Told>(), [0; 3])?))
}

/// The starts of contiguous blocks of these lengths.
fn starts(lengths: &[i64]) -> Vec<i64> {
    lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect()
}
