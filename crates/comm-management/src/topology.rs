//! Communicators with a topology.
//!
//! All processes know the members of every new communicator, in their order: the old ranks, or the new ones
//! that each finds for itself from what the processes have told each other (`reorder.rs`).

use crate::create::of_group;
use crate::memory::if_all;
use crate::reorder::{self, Order};
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::topology::{Cartesian, Graph, Neighbours, VirtualTopology};
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// `MPI_Cart_create` (MPI 5.0, section 8.5.1): the first processes of the communicator as a grid, reordered
/// if that is allowed; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// That of `grid`; `MPI_ERR_DIMS` if the grid is larger than the communicator; `MPI_ERR_NO_MEM`, in all
/// processes if one lacks memory.
pub fn cart_create(comm: &CommRef, grid: Result<Cartesian>, may_reorder: bool) -> Result<usize> {
    let checked = |grid: Cartesian| check_size(comm, grid.size()).map(|()| grid);
    let grid = if_all(comm, grid.and_then(checked))?;
    let nodes = grid.size();
    let order = may_reorder.then(|| if_all(comm, reorder::grid(comm, &grid))).transpose()?;
    of_group(comm, &members(comm, nodes, order)?, VirtualTopology::Cartesian(grid))
}

/// `MPI_Cart_map` (MPI 5.0, section 8.5.8): the rank of this process in the grid, its own one. The call is
/// local, so it cannot ask where the others run, which [`cart_create`] does.
///
/// # Errors
/// `MPI_ERR_DIMS` if the grid is larger than the communicator.
pub fn cart_map(comm: &CommRef, grid: &Cartesian) -> Result<i32> {
    check_size(comm, grid.size())?;
    Ok(rank_in(comm, grid.size()))
}

/// `MPI_Cart_sub` (MPI 5.0, section 8.5.7): the slice of a grid in which this process lies, of the dimensions
/// that stay.
///
/// # Errors
/// `MPI_ERR_TOPOLOGY` if the communicator is no grid; `MPI_ERR_NO_MEM`, in all processes if one lacks memory.
pub fn cart_sub(comm: &CommRef, stays: impl Fn(usize) -> bool) -> Result<usize> {
    let (grid, ranks) = if_all(comm, comm.cartesian()?.sub_grid(comm.rank() as i32, stays))?;
    of_group(comm, &Arc::new(comm.group.include(&ranks)?), VirtualTopology::Cartesian(grid))
}

/// `MPI_Graph_create` (MPI 5.0, section 8.5.3): the first processes of the communicator as a graph, reordered
/// if that is allowed; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// That of `graph`; `MPI_ERR_DIMS` if the graph is larger than the communicator; `MPI_ERR_NO_MEM`, in all
/// processes if one lacks memory.
pub fn graph_create(comm: &CommRef, graph: Result<Graph>, may_reorder: bool) -> Result<usize> {
    let checked = |graph: Graph| check_size(comm, graph.index.len()).map(|()| graph);
    let graph = if_all(comm, graph.and_then(checked))?;
    let nodes = graph.index.len();
    let order = may_reorder.then(|| if_all(comm, reorder::graph(comm, &graph))).transpose()?;
    of_group(comm, &members(comm, nodes, order)?, VirtualTopology::Graph(graph))
}

/// `MPI_Graph_map` (MPI 5.0, section 8.5.8): the rank of this process in a graph of `nodes`, its own one,
/// because this call is local, too.
///
/// # Errors
/// `MPI_ERR_DIMS` if the graph is larger than the communicator.
pub fn graph_map(comm: &CommRef, nodes: usize) -> Result<i32> {
    check_size(comm, nodes)?;
    Ok(rank_in(comm, nodes))
}

/// `MPI_Dist_graph_create_adjacent` (MPI 5.0, section 8.5.4): all processes of the communicator, each with
/// its neighbours. If they are reordered, a process takes over the neighbours that its new rank named.
///
/// # Errors
/// That of `neighbours`; `MPI_ERR_RANK`, `MPI_ERR_ARG` for ranks and weights that cannot be;
/// `MPI_ERR_NO_MEM`, in all processes if one lacks memory.
pub fn dist_graph_adjacent(
    comm: &CommRef,
    neighbours: Result<Neighbours>,
    may_reorder: bool,
) -> Result<usize> {
    let checked = |neighbours: Neighbours| neighbours.check(comm.size()).map(|()| neighbours);
    let neighbours = if_all(comm, neighbours.and_then(checked))?;
    let (order, neighbours) = if may_reorder {
        let (order, neighbours) = if_all(comm, reorder::distributed(comm, neighbours))?;
        (Some(order), neighbours)
    } else {
        (None, neighbours)
    };
    of_group(comm, &members(comm, comm.size(), order)?, VirtualTopology::Distributed(neighbours))
}

fn rank_in(comm: &CommRef, nodes: usize) -> i32 {
    if comm.rank() < nodes { comm.rank() as i32 } else { mpi::MPI_UNDEFINED }
}

fn check_size(comm: &CommRef, nodes: usize) -> Result<()> {
    if nodes <= comm.size() {
        return Ok(());
    }
    let message = format!("a topology of {nodes} processes does not fit a communicator of {}", comm.size());
    Err(Error::new(mpi::MPI_ERR_DIMS, message))
}

/// The first processes of the communicator, in an order or as they are.
fn members(comm: &CommRef, nodes: usize, order: Option<Order>) -> Result<Arc<Group>> {
    let unchanged = || (0..nodes as i32).collect();
    let order = order.unwrap_or_else(unchanged);
    if order.len() == comm.size() && order.is_sorted() {
        return Ok(comm.group.clone());
    }
    comm.group.include(&order).map(Arc::new)
}
