//! Buffers of data: one function checks address, count and datatype together.

use crate::error::{Error, Result};
use heddle_comm::buffer::{Buffer, check_address, check_count};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::{c_int, c_void};

/// The buffer of `count` elements of a datatype, which must be committed, at `address`; and the datatype,
/// which the caller keeps until the operation is begun.
///
/// # Safety
///
/// The memory that the arguments describe stays valid until the operation completes.
///
/// # Errors
///
/// `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`.
#[inline(always)]
pub(crate) unsafe fn buffer(
    address: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
) -> Result<(TypeInUse, Buffer)> {
    let datatype = datatype::for_communication(datatype.0)?;
    let address = address.cast::<u8>();
    check_address(address, check_count(count, &datatype)?, &datatype)?;
    // SAFETY: the caller promises that the memory stays valid until the operation completes.
    let buffer = unsafe { Buffer::new(address.cast_mut(), count, &datatype) };
    Ok((datatype, buffer))
}

/// The same for a message from or to the rank `peer`. No data and `MPI_PROC_NULL` go with
/// `MPI_DATATYPE_NULL`, too, because other libraries look at the rank first.
///
/// # Safety
///
/// The same as for [`buffer`].
///
/// # Errors
///
/// The same as for [`buffer`].
#[inline(always)]
pub(crate) unsafe fn buffer_for(
    peer: c_int,
    address: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
) -> Result<(TypeInUse, Buffer)> {
    // SAFETY: the caller promises the same.
    match unsafe { buffer(address, count, datatype) } {
        Ok(found) => Ok(found),
        Err(error) => nothing(peer, count, datatype, error),
    }
}

#[cold]
fn nothing(peer: c_int, count: i64, datatype: DatatypeHandle, error: Error) -> Result<(TypeInUse, Buffer)> {
    if peer != mpi::MPI_PROC_NULL || count != 0 || datatype != DatatypeHandle::NULL {
        return Err(error);
    }
    // SAFETY: no element needs no memory.
    unsafe { buffer(std::ptr::null(), 0, DatatypeHandle(mpi::MPI_BYTE)) }
}
