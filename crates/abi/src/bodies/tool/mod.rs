//! The tool information interface, MPI_T.
//!
//! A function that describes something stores only the values for which the program passes a pointer.

mod category;
mod cvar;
mod enumeration;
mod event;
mod pvar;

pub(crate) use category::*;
pub(crate) use cvar::*;
pub(crate) use enumeration::*;
pub(crate) use event::*;
pub(crate) use pvar::*;

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_tool as tool;
use std::ffi::{c_int, c_void};
use std::slice;

pub(crate) fn t_init_thread(_required: c_int, provided: Out<c_int>) -> Result<()> {
    provided.set(mpi::MPI_THREAD_MULTIPLE)?;
    tool::initialize();
    Ok(())
}

pub(crate) fn t_finalize() -> Result<()> {
    tool::finalize()
}

fn invalid(what: &str) -> Error {
    Error::new(mpi::MPI_T_ERR_INVALID, what)
}

/// Stores a value in a buffer of the program, which has room for the count of the variable's handle.
fn store(bytes: &[u8], buffer: *mut c_void) -> Result<()> {
    if buffer.is_null() {
        return Err(invalid("the buffer for a variable is a null pointer"));
    }
    // SAFETY: the program promises a buffer for the handle's count of elements, of the variable's type.
    unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// The first `len` bytes of the program's buffer.
///
/// # Safety
///
/// `buffer` is null, or `len` bytes can be read there until the MPI function returns.
unsafe fn load<'a>(buffer: *const c_void, bytes: usize) -> Result<&'a [u8]> {
    if buffer.is_null() {
        return Err(invalid("the value for a variable is a null pointer"));
    }
    // SAFETY: the caller promises that the bytes can be read.
    Ok(unsafe { slice::from_raw_parts(buffer.cast(), bytes) })
}

/// Stores the first of some indices in an array of `len`.
fn store_indices(indices: &[c_int], len: c_int, array: crate::argument::ListOut<'_, c_int>) -> Result<()> {
    let wanted = usize::try_from(len).map_err(|_| invalid("the length of an array is negative"))?;
    let wanted = wanted.min(indices.len());
    array.slice(wanted)?.copy_from_slice(&indices[..wanted]);
    Ok(())
}
