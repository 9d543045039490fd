//! Datatypes.
//!
//! | file | functions |
//! |---|---|
//! | `construct.rs` | constructors |
//! | `array.rs` | constructors of parts of arrays |
//! | `query.rs` | sizes, bounds, and how a datatype was made |
//! | `pack.rs`, `pack_external.rs` | packing and unpacking |

mod array;
mod construct;
mod pack;
mod pack_external;
mod query;

pub(crate) use array::*;
pub(crate) use construct::*;
pub(crate) use pack::*;
pub(crate) use pack_external::*;
pub(crate) use query::*;

use crate::argument::Out;
use crate::error::Result;
use heddle_comm::datatype::{self, TypeInUse};
use heddle_datatype::types;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

fn found(handle: DatatypeHandle) -> Result<TypeInUse> {
    datatype::from_handle(handle.0)
}

/// The datatype that another one is made from.
fn old_type(handle: DatatypeHandle) -> Result<heddle_datatype::TypeRef> {
    datatype::to_build_on(handle.0)
}

pub(crate) fn aint_add(base: i64, disp: i64) -> i64 {
    base.wrapping_add(disp)
}

pub(crate) fn aint_diff(addr1: i64, addr2: i64) -> i64 {
    addr1.wrapping_sub(addr2)
}

pub(crate) fn get_address(location: *const c_void, address: Out<i64>) -> Result<()> {
    address.set(location.expose_provenance() as i64)
}

pub(crate) fn type_commit(datatype: Out<DatatypeHandle>) -> Result<()> {
    found(datatype.get()?)?.commit();
    Ok(())
}

pub(crate) fn type_free(datatype: Out<DatatypeHandle>) -> Result<()> {
    let datatype = datatype.variable()?;
    datatype::free(datatype.0)?;
    *datatype = DatatypeHandle::NULL;
    Ok(())
}

pub(crate) fn type_dup(oldtype: DatatypeHandle, newtype: Out<DatatypeHandle>) -> Result<()> {
    let newtype = newtype.variable()?;
    // Without a copy, the null handle: as for communicators.
    let copy = datatype::dup(oldtype.0);
    newtype.0 = *copy.as_ref().unwrap_or(&mpi::MPI_DATATYPE_NULL);
    copy?;
    Ok(())
}

pub(crate) fn type_get_value_index(
    value_type: DatatypeHandle,
    index_type: DatatypeHandle,
    pair_type: Out<DatatypeHandle>,
) -> Result<()> {
    found(value_type)?;
    found(index_type)?;
    let pair = match (value_type.0, index_type.0) {
        (mpi::MPI_FLOAT, mpi::MPI_INT) => &types::MPI_FLOAT_INT,
        (mpi::MPI_DOUBLE, mpi::MPI_INT) => &types::MPI_DOUBLE_INT,
        (mpi::MPI_LONG, mpi::MPI_INT) => &types::MPI_LONG_INT,
        (mpi::MPI_INT, mpi::MPI_INT) => &types::MPI_2INT,
        (mpi::MPI_SHORT, mpi::MPI_INT) => &types::MPI_SHORT_INT,
        (mpi::MPI_LONG_DOUBLE, mpi::MPI_INT) => &types::MPI_LONG_DOUBLE_INT,
        (mpi::MPI_REAL, mpi::MPI_REAL) => &types::MPI_2REAL,
        (mpi::MPI_DOUBLE_PRECISION, mpi::MPI_DOUBLE_PRECISION) => &types::MPI_2DOUBLE_PRECISION,
        (mpi::MPI_INTEGER, mpi::MPI_INTEGER) => &types::MPI_2INTEGER,
        // The standard's answer when there is no such type.
        _ => return pair_type.set(DatatypeHandle::NULL),
    };
    pair_type
        .set(DatatypeHandle(pair.predefined_basic().map_or(mpi::MPI_DATATYPE_NULL, |basic| basic.handle)))
}
