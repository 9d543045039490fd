//! Collective communication.
//!
//! Some arguments matter on some ranks only. An argument that the standard ignores is not
//! read; it is `None` here.
//!
//! | file | functions |
//! |---|---|
//! | `form.rs` | blocking, nonblocking and persistent: one body for the three |
//! | `layout.rs` | buffers with a block for each rank |
//! | `movement.rs` | barrier, broadcast, gather, scatter, all-to-all |
//! | `reduction.rs` | reductions and scans |
//! | `operator.rs` | operators |

pub(super) mod form;
pub(super) mod layout;
mod movement;
mod operator;
mod reduction;

pub(crate) use movement::*;
pub(crate) use operator::*;
pub(crate) use reduction::*;

use crate::error::Result;
use heddle_collective::Part;
use heddle_comm::datatype::{self, TypeRef};
use heddle_spec::constants::MPI_IN_PLACE;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

fn is_in_place(address: *const c_void) -> bool {
    address.addr() == MPI_IN_PLACE
}

/// The datatype of a buffer, unless the standard ignores the buffer here.
fn datatype_if(counts: bool, datatype: DatatypeHandle) -> Result<Option<TypeRef>> {
    counts.then(|| datatype::for_communication(datatype.0)).transpose()
}

/// A buffer, unless the standard ignores it, in which case it has no datatype.
fn part_if(address: *const c_void, count: i64, datatype: Option<&TypeRef>) -> Result<Option<Part<'_>>> {
    datatype.map(|datatype| part(address, count, datatype)).transpose()
}

pub(super) fn part(address: *const c_void, count: i64, datatype: &TypeRef) -> Result<Part<'_>> {
    // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
    unsafe { Part::new(address.cast_mut().cast(), count, datatype) }
}
