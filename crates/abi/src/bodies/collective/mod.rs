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
use heddle_comm::CommRef;
use heddle_comm::datatype::{self, TypeInUse};
use heddle_spec::constants::{MPI_IN_PLACE, MPI_PROC_NULL, MPI_ROOT};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::{c_int, c_void};

/// The datatype of a buffer that the standard ignores.
const NO_DATA: TypeInUse = TypeInUse::predefined(&heddle_datatype::types::MPI_BYTE);

/// Returns true in the root of an operation.
fn is_root(comm: &CommRef, root: c_int) -> bool {
    if comm.is_inter() { root == MPI_ROOT } else { usize::try_from(root) == Ok(comm.rank()) }
}

/// Returns true in a process of an intercommunicator that has nothing to do.
fn is_idle(comm: &CommRef, root: c_int) -> bool {
    comm.is_inter() && root == MPI_PROC_NULL
}

/// Returns true in a process whose buffer for the root counts: it sends it there, or receives into it.
fn gives_to_root(comm: &CommRef, root: c_int, address: *const c_void) -> bool {
    if comm.is_inter() { root != MPI_ROOT && root != MPI_PROC_NULL } else { !is_in_place(address) }
}

fn is_in_place(address: *const c_void) -> bool {
    address.addr() == MPI_IN_PLACE
}

/// The datatype of a buffer, unless the standard ignores the buffer here.
fn datatype_if(counts: bool, datatype: DatatypeHandle) -> Result<Option<TypeInUse>> {
    counts.then(|| datatype::for_communication(datatype.0)).transpose()
}

/// A buffer, unless the standard ignores it, in which case it has no datatype.
fn part_if(address: *const c_void, count: i64, datatype: Option<&TypeInUse>) -> Result<Option<Part<'_>>> {
    datatype.map(|datatype| part(address, count, datatype)).transpose()
}

pub(super) fn part(address: *const c_void, count: i64, datatype: &TypeInUse) -> Result<Part<'_>> {
    // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
    unsafe { Part::new(address.cast_mut().cast(), count, datatype) }
}
