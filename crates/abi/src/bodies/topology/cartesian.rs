//! Grids.

use super::{length, room};
use crate::argument::{List, ListOut, Out};
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_comm::topology::{self, Cartesian};
use heddle_platform::allocate::collected;
use heddle_spec::constants as mpi;
use heddle_spec::handle::CommHandle;
use std::ffi::c_int;

/// The number of dimensions.
fn dimensions(n: c_int) -> Result<usize> {
    length(n, "the number of dimensions", mpi::MPI_ERR_DIMS)
}

fn grid(ndims: c_int, dims: List<'_, c_int>, periods: List<'_, c_int>) -> Result<Cartesian> {
    let ndims = dimensions(ndims)?;
    let periods = collected(periods.slice(ndims)?.iter().map(|&period| period != 0))?;
    Cartesian::new(dims.slice(ndims)?, periods)
}

pub(crate) fn cart_create(
    comm: CommHandle,
    ndims: c_int,
    dims: List<'_, c_int>,
    periods: List<'_, c_int>,
    reorder: bool,
    new: Out<CommHandle>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let (grid, new) = (grid(ndims, dims, periods), new.variable()?);
    *new = CommHandle(heddle_comm_management::cart_create(&comm, grid, reorder)?);
    Ok(())
}

/// A grid with a dimension of 0 has a place for no process.
pub(crate) fn cart_map(
    comm: CommHandle,
    ndims: c_int,
    dims: List<'_, c_int>,
    periods: List<'_, c_int>,
    new_rank: Out<c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sizes = dims.slice(dimensions(ndims)?)?;
    if sizes.contains(&0) && sizes.iter().all(|&size| size >= 0) {
        return new_rank.set(mpi::MPI_UNDEFINED);
    }
    new_rank.set(heddle_comm_management::cart_map(&comm, &grid(ndims, dims, periods)?)?)
}

pub(crate) fn cart_sub(comm: CommHandle, remain: List<'_, c_int>, new: Out<CommHandle>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let remain = remain.slice(comm.cartesian()?.dims.len())?;
    let new = new.variable()?;
    *new = CommHandle(heddle_comm_management::cart_sub(&comm, |dimension| remain[dimension] != 0)?);
    Ok(())
}

pub(crate) fn cartdim_get(comm: CommHandle, ndims: Out<c_int>) -> Result<()> {
    ndims.set(CommRef::from_handle(comm.0)?.cartesian()?.dims.len() as c_int)
}

pub(crate) fn cart_get(
    comm: CommHandle,
    maxdims: c_int,
    dims: ListOut<'_, c_int>,
    periods: ListOut<'_, c_int>,
    coords: ListOut<'_, c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let grid = comm.cartesian()?;
    let n = room(maxdims, grid.dims.len(), "maxdims")?;
    for (out, &dim) in dims.slice(n)?.iter_mut().zip(&grid.dims) {
        *out = dim as c_int;
    }
    for (out, &period) in periods.slice(n)?.iter_mut().zip(&grid.periods) {
        *out = c_int::from(period);
    }
    coords.slice(n)?.copy_from_slice(&grid.coords(comm.rank() as i32)?);
    Ok(())
}

pub(crate) fn cart_coords(
    comm: CommHandle,
    rank: c_int,
    maxdims: c_int,
    coords: ListOut<'_, c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let grid = comm.cartesian()?;
    let found = grid.coords(rank)?;
    coords.slice(room(maxdims, found.len(), "maxdims")?)?.copy_from_slice(&found);
    Ok(())
}

pub(crate) fn cart_rank(comm: CommHandle, coords: List<'_, c_int>, rank: Out<c_int>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let grid = comm.cartesian()?;
    rank.set(grid.rank(coords.slice(grid.dims.len())?)?)
}

pub(crate) fn cart_shift(
    comm: CommHandle,
    direction: c_int,
    steps: c_int,
    source: Out<c_int>,
    dest: Out<c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let (from, to) = comm.cartesian()?.shift(comm.rank() as i32, direction, steps)?;
    source.set(from)?;
    dest.set(to)
}

pub(crate) fn dims_create(nodes: c_int, ndims: c_int, dims: ListOut<'_, c_int>) -> Result<()> {
    topology::dims_create(nodes, dims.slice(dimensions(ndims)?)?)
}
