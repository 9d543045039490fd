//! Packing and unpacking.

use crate::argument::CountOut;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::buffer::{check_address, check_packed_address};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle};
use std::ffi::c_void;

/// A datatype that may be used in communication, and the bytes that `count` items of it take when packed.
pub(super) fn packed(count: i64, datatype: DatatypeHandle) -> Result<(TypeInUse, i64)> {
    let datatype = datatype::for_communication(datatype.0)?;
    let bytes = datatype.packed_len(count).ok_or_else(|| {
        let message =
            format!("the count is {count}: it may not be negative, nor the data exceed the address space");
        Error::new(mpi::MPI_ERR_COUNT, message)
    })?;
    Ok((datatype, bytes))
}

/// Checks that `bytes` lie in a packed buffer of `size` from `position` on; returns the position behind them.
pub(super) fn end_of(position: i64, bytes: i64, size: i64) -> Result<i64> {
    if position < 0 || size < 0 {
        let message = format!("the position is {position} and the size {size}: neither may be negative");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    match position.checked_add(bytes) {
        Some(end) if end <= size => Ok(end),
        _ => {
            let message = format!(
                "{bytes} bytes from position {position} on do not fit into the packed buffer of {size} bytes"
            );
            Err(Error::new(mpi::MPI_ERR_TRUNCATE, message))
        }
    }
}

/// Checks the addresses of data, whose packed form has `bytes`.
pub(super) fn check_addresses(
    data: *const c_void,
    packed: *const c_void,
    bytes: i64,
    datatype: &TypeInUse,
) -> Result<()> {
    check_address(data.cast(), bytes, datatype)?;
    check_packed_address(packed.cast(), bytes)
}

pub(crate) fn pack(
    inbuf: *const c_void,
    incount: i64,
    datatype: DatatypeHandle,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountOut,
    comm: CommHandle,
) -> Result<()> {
    CommRef::from_handle(comm.0)?;
    let (datatype, bytes) = packed(incount, datatype)?;
    let start = position.get()?;
    let end = end_of(start, bytes, outsize)?;
    if bytes > 0 {
        check_addresses(inbuf, outbuf, bytes, &datatype)?;
        let to = outbuf.cast::<u8>().wrapping_offset(start as isize);
        // SAFETY: the program's buffer has `outsize` bytes, and these lie within.
        let to = unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) };
        // SAFETY: the program promises that the data is valid.
        unsafe { datatype.pack(inbuf.cast(), incount, 0, to) };
    }
    position.set(end)
}

pub(crate) fn unpack(
    inbuf: *const c_void,
    insize: i64,
    position: CountOut,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: DatatypeHandle,
    comm: CommHandle,
) -> Result<()> {
    CommRef::from_handle(comm.0)?;
    let (datatype, bytes) = packed(outcount, datatype)?;
    let start = position.get()?;
    let end = end_of(start, bytes, insize)?;
    if bytes > 0 {
        check_addresses(outbuf, inbuf, bytes, &datatype)?;
        let from = inbuf.cast::<u8>().wrapping_offset(start as isize);
        // SAFETY: the program's buffer has `insize` bytes, and these lie within.
        let from = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
        // SAFETY: the program promises that the destination is valid.
        unsafe { datatype.unpack(outbuf.cast(), outcount, 0, from) };
    }
    position.set(end)
}

pub(crate) fn pack_size(
    incount: i64,
    datatype: DatatypeHandle,
    comm: CommHandle,
    size: CountOut,
) -> Result<()> {
    CommRef::from_handle(comm.0)?;
    let datatype = datatype::from_handle(datatype.0)?;
    let bytes = datatype.packed_len(incount).ok_or_else(|| {
        let message =
            format!("the count is {incount}: it may not be negative, nor the data exceed the address space");
        Error::new(mpi::MPI_ERR_COUNT, message)
    })?;
    size.set(bytes)
}
