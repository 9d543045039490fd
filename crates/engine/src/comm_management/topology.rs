//! Communicators with a topology.
//!
//! Ranks are not reordered: all processes share one machine, where no order is better than another. So the
//! members of every new communicator are known to all without communication.

use super::create::of_group;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::topology::{Cartesian, Graph, Neighbours, Topology};
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// `MPI_Cart_create`: the first processes of the communicator as a grid; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// `MPI_ERR_DIMS` if the grid is larger than the communicator.
pub fn cart_create(comm: &CommRef, grid: Cartesian) -> Result<usize> {
    let group = first_processes(comm, grid.size())?;
    of_group(comm, &group, Topology::Cartesian(grid))
}

/// `MPI_Cart_map`: the rank that this process would have in the grid.
///
/// # Errors
/// The same as for [`cart_create`].
pub fn cart_map(comm: &CommRef, grid: &Cartesian) -> Result<i32> {
    check_size(comm, grid.size())?;
    Ok(rank_in(comm, grid.size()))
}

/// `MPI_Cart_sub`: the slice of a grid in which this process lies.
///
/// # Errors
/// `MPI_ERR_TOPOLOGY` if the communicator is no grid.
pub fn cart_sub(comm: &CommRef, remain: &[bool]) -> Result<usize> {
    let (grid, ranks) = comm.cartesian()?.sub_grid(comm.rank() as i32, remain)?;
    of_group(comm, &Arc::new(comm.group.include(&ranks)?), Topology::Cartesian(grid))
}

/// `MPI_Graph_create`: the first processes of the communicator as a graph; `MPI_COMM_NULL` for the rest.
///
/// # Errors
/// `MPI_ERR_DIMS` if the graph is larger than the communicator.
pub fn graph_create(comm: &CommRef, graph: Graph) -> Result<usize> {
    let group = first_processes(comm, graph.index.len())?;
    of_group(comm, &group, Topology::Graph(graph))
}

/// `MPI_Graph_map`: the rank that this process would have in a graph of `nodes`.
///
/// # Errors
/// The same as for [`graph_create`].
pub fn graph_map(comm: &CommRef, nodes: usize) -> Result<i32> {
    check_size(comm, nodes)?;
    Ok(rank_in(comm, nodes))
}

/// `MPI_Dist_graph_create_adjacent`: all processes of the communicator, each with its neighbours.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_ARG` for ranks and weights that cannot be.
pub fn dist_graph_adjacent(comm: &CommRef, neighbours: Neighbours) -> Result<usize> {
    neighbours.check(comm.size())?;
    of_group(comm, &comm.group.clone(), Topology::Distributed(neighbours))
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

fn first_processes(comm: &CommRef, nodes: usize) -> Result<Arc<Group>> {
    check_size(comm, nodes)?;
    if nodes == comm.size() {
        return Ok(comm.group.clone());
    }
    let ranks: Vec<i32> = (0..nodes as i32).collect();
    comm.group.include(&ranks).map(Arc::new)
}
