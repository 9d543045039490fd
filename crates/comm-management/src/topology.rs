//! Communicators with a topology.
//!
//! All processes know the members of every new communicator, in their order: the old ranks, or the new ones
//! that each finds for itself from what the processes have told each other (`reorder.rs`).

use crate::create::of_group;
use crate::reorder::{self, Order};
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::topology::{Cartesian, Graph, Neighbours, Topology};
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// `MPI_Cart_create` (MPI 5.0, section 8.5.1): the first processes of the communicator as a grid, reordered
/// if that is allowed; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// `MPI_ERR_DIMS` if the grid is larger than the communicator.
pub fn cart_create(comm: &CommRef, grid: Cartesian, may_reorder: bool) -> Result<usize> {
    let nodes = grid.size();
    check_size(comm, nodes)?;
    let order = if may_reorder { Some(reorder::grid(comm, &grid)?) } else { None };
    of_group(comm, &members(comm, nodes, order)?, Topology::Cartesian(grid))
}

/// `MPI_Cart_map` (MPI 5.0, section 8.5.8): the rank of this process in the grid, its own one. The call is
/// local, so it cannot ask where the others run, which [`cart_create`] does.
///
/// # Errors
/// The same as for [`cart_create`].
pub fn cart_map(comm: &CommRef, grid: &Cartesian) -> Result<i32> {
    check_size(comm, grid.size())?;
    Ok(rank_in(comm, grid.size()))
}

/// `MPI_Cart_sub` (MPI 5.0, section 8.5.7): the slice of a grid in which this process lies.
///
/// # Errors
/// `MPI_ERR_TOPOLOGY` if the communicator is no grid.
pub fn cart_sub(comm: &CommRef, remain: &[bool]) -> Result<usize> {
    let (grid, ranks) = comm.cartesian()?.sub_grid(comm.rank() as i32, remain)?;
    of_group(comm, &Arc::new(comm.group.include(&ranks)?), Topology::Cartesian(grid))
}

/// `MPI_Graph_create` (MPI 5.0, section 8.5.3): the first processes of the communicator as a graph, reordered
/// if that is allowed; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// `MPI_ERR_DIMS` if the graph is larger than the communicator.
pub fn graph_create(comm: &CommRef, graph: Graph, may_reorder: bool) -> Result<usize> {
    let nodes = graph.index.len();
    check_size(comm, nodes)?;
    let order = if may_reorder { Some(reorder::graph(comm, &graph)?) } else { None };
    of_group(comm, &members(comm, nodes, order)?, Topology::Graph(graph))
}

/// `MPI_Graph_map` (MPI 5.0, section 8.5.8): the rank of this process in a graph of `nodes`, its own one,
/// because this call is local, too.
///
/// # Errors
/// The same as for [`graph_create`].
pub fn graph_map(comm: &CommRef, nodes: usize) -> Result<i32> {
    check_size(comm, nodes)?;
    Ok(rank_in(comm, nodes))
}

/// `MPI_Dist_graph_create_adjacent` (MPI 5.0, section 8.5.4): all processes of the communicator, each with
/// its neighbours. If they are reordered, a process takes over the neighbours that its new rank named.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_ARG` for ranks and weights that cannot be.
pub fn dist_graph_adjacent(comm: &CommRef, neighbours: Neighbours, may_reorder: bool) -> Result<usize> {
    neighbours.check(comm.size())?;
    let (order, neighbours) = if may_reorder {
        let (order, neighbours) = reorder::distributed(comm, neighbours)?;
        (Some(order), neighbours)
    } else {
        (None, neighbours)
    };
    of_group(comm, &members(comm, comm.size(), order)?, Topology::Distributed(neighbours))
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
