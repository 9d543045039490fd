//! Buffers of data: address, count and datatype are checked together, in this one place.

use crate::error::{Error, Result};
use heddle_engine::buffer::Buffer;
use heddle_engine::datatype::{self, TypeRef};
use heddle_spec::constants::{MPI_ERR_BUFFER, MPI_ERR_COUNT};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

/// No data lies below this address: there, null and the standard's addresses with a meaning of their own point.
const LOWEST_ADDRESS: i64 = 4096;

/// The buffer of `count` elements of a datatype, which must be committed, at `address`.
///
/// # Safety
///
/// The memory that the arguments describe stays valid until the operation completes.
///
/// # Errors
///
/// `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`.
#[inline(always)]
pub(crate) unsafe fn buffer(address: *const c_void, count: i64, datatype: DatatypeHandle) -> Result<Buffer> {
    let datatype = datatype::for_communication(datatype.0)?;
    // SAFETY: the caller promises it.
    unsafe { buffer_of(address, count, &datatype) }
}

/// As [`buffer`], of a datatype that was looked up.
///
/// # Safety
///
/// As for [`buffer`].
///
/// # Errors
///
/// `MPI_ERR_COUNT`, `MPI_ERR_BUFFER`.
#[inline(always)]
pub(crate) unsafe fn buffer_of(address: *const c_void, count: i64, datatype: &TypeRef) -> Result<Buffer> {
    let Some(bytes) = datatype.packed_len(count) else { return Err(bad_count(count, datatype)) };
    // Wrapping: a displacement may be an address, with MPI_BOTTOM, and may be negative.
    let first = (address.addr() as i64).wrapping_add(datatype.true_lb());
    if first < LOWEST_ADDRESS && bytes > 0 {
        return Err(bad_address(address, bytes));
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { Buffer::new(address.cast::<u8>().cast_mut(), count, datatype) })
}

#[cold]
fn bad_count(count: i64, datatype: &TypeRef) -> Error {
    let message = match count {
        ..0 => format!("the count is {count}, but it may not be negative"),
        _ => format!("{count} elements of {} bytes each exceed the address space", datatype.size()),
    };
    Error::new(MPI_ERR_COUNT, message)
}

#[cold]
fn bad_address(address: *const c_void, bytes: i64) -> Error {
    let message = match address.addr() {
        0 => format!("the buffer is a null pointer, but it is to hold {bytes} bytes"),
        address => format!("{address:#x} cannot be the address of a buffer of {bytes} bytes here"),
    };
    Error::new(MPI_ERR_BUFFER, message)
}
