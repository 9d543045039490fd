//! How many elements an array has, where the communicator determines it.

use crate::constants::{MPI_CART, MPI_DIST_GRAPH, MPI_GRAPH};
use crate::handle::Handle;
use crate::subroutines::{
    PMPI_Cartdim_get, PMPI_Comm_rank, PMPI_Comm_remote_size, PMPI_Comm_size, PMPI_Comm_test_inter,
    PMPI_Dist_graph_neighbors_count, PMPI_Graph_neighbors_count, PMPI_Topo_test,
};
use std::ffi::c_int;

/// Asks the MPI library, whose own complaint about a wrong communicator follows in the call itself.
fn ask(question: impl FnOnce(&mut c_int)) -> c_int {
    let mut answer = 0;
    question(&mut answer);
    answer
}

/// The processes of a communicator, or of its remote group if it has one.
pub(crate) fn processes(comm: Handle) -> c_int {
    // SAFETY: room for an answer.
    let is_inter = ask(|flag| _ = unsafe { PMPI_Comm_test_inter(comm, flag) }) != 0;
    if is_inter {
        // SAFETY: the same.
        return ask(|size| _ = unsafe { PMPI_Comm_remote_size(comm, size) });
    }
    // SAFETY: the same.
    ask(|size| _ = unsafe { PMPI_Comm_size(comm, size) })
}

/// The dimensions of a Cartesian communicator.
pub(crate) fn dimensions(comm: Handle) -> c_int {
    // SAFETY: room for an answer.
    ask(|dimensions| _ = unsafe { PMPI_Cartdim_get(comm, dimensions) })
}

/// The neighbours that a process receives from.
pub(crate) fn sources(comm: Handle) -> c_int {
    neighbors(comm)[0]
}

/// The neighbours that a process sends to.
pub(crate) fn destinations(comm: Handle) -> c_int {
    neighbors(comm)[1]
}

fn neighbors(comm: Handle) -> [c_int; 2] {
    // SAFETY: room for an answer.
    match ask(|topology| _ = unsafe { PMPI_Topo_test(comm, topology) }) {
        MPI_CART => [2 * dimensions(comm); 2],
        MPI_GRAPH => {
            // SAFETY: the same.
            let rank = ask(|rank| _ = unsafe { PMPI_Comm_rank(comm, rank) });
            // SAFETY: the same.
            [ask(|count| _ = unsafe { PMPI_Graph_neighbors_count(comm, rank, count) }); 2]
        }
        MPI_DIST_GRAPH => {
            let (mut counts, mut weighted) = ([0; 2], 0);
            let [sources, destinations] = &mut counts;
            // SAFETY: room for the answers.
            unsafe { PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &raw mut weighted) };
            counts
        }
        _ => [0; 2],
    }
}
