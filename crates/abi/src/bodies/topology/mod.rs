//! Virtual topologies.
//!
//! | file | functions |
//! |---|---|
//! | `cartesian.rs` | grids |
//! | `graph.rs` | graphs |
//! | `neighborhood.rs` | collectives between neighbours |

mod cartesian;
mod graph;
mod neighborhood;

pub(crate) use cartesian::*;
pub(crate) use graph::*;
pub(crate) use neighborhood::*;

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::CommHandle;
use std::ffi::c_int;

pub(crate) fn topo_test(comm: CommHandle, status: Out<c_int>) -> Result<()> {
    status.set(CommRef::from_handle(comm.0)?.topology_status())
}

/// The length of an array, or a number of dimensions; errors have the class given.
fn length(n: c_int, what: &str, class: i32) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::new(class, format!("{what} is {n}; it cannot be negative")))
}

/// The length of an output array, which must have room for `needed`.
fn room(n: c_int, needed: usize, what: &str) -> Result<usize> {
    let length = length(n, what, mpi::MPI_ERR_ARG)?;
    if length < needed {
        let message = format!("{what} is {n}, but {needed} elements are to be stored");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    Ok(needed)
}
