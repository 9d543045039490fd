//! Packing in the canonical representation.

use super::pack::{check_addresses, end_of};
use crate::argument::{Out, Text};
use crate::error::{Error, Result};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_comm::external32;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_void;

/// The only representation that can be named.
const CANONICAL: &str = "external32";

/// Other libraries pack in the canonical representation whatever the name is.
fn check_representation(datarep: Text<'_>) -> Result<()> {
    match datarep.get()? {
        CANONICAL => Ok(()),
        _ if !heddle_settings::is_strict() => Ok(()),
        other => {
            let message =
                format!("the data representation is \"{other}\", but only \"{CANONICAL}\" can be packed");
            Err(Error::new(mpi::MPI_ERR_ARG, message))
        }
    }
}

fn packed_len(datatype: &TypeInUse, count: i64) -> Result<i64> {
    external32::packed_len(datatype, count).ok_or_else(|| {
        let message =
            format!("the count is {count}: it may not be negative, nor the data exceed the address space");
        Error::new(mpi::MPI_ERR_COUNT, message)
    })
}

pub(crate) fn pack_external(
    datarep: Text<'_>,
    inbuf: *const c_void,
    incount: i64,
    datatype: DatatypeHandle,
    outbuf: *mut c_void,
    outsize: i64,
    position: Out<i64>,
) -> Result<()> {
    check_representation(datarep)?;
    let datatype = datatype::for_communication(datatype.0)?;
    let bytes = packed_len(&datatype, incount)?;
    let position = position.variable()?;
    let end = end_of(*position, bytes, outsize)?;
    if bytes > 0 {
        check_addresses(inbuf, outbuf, bytes, &datatype)?;
        let to = outbuf.cast::<u8>().wrapping_offset(*position as isize);
        // SAFETY: the program's buffer has `outsize` bytes, and these lie within.
        let to = unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) };
        // SAFETY: the program promises that the data is valid.
        unsafe { external32::pack(&datatype, inbuf.cast(), incount, to) }?;
    }
    *position = end;
    Ok(())
}

pub(crate) fn unpack_external(
    datarep: Text<'_>,
    inbuf: *const c_void,
    insize: i64,
    position: Out<i64>,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: DatatypeHandle,
) -> Result<()> {
    check_representation(datarep)?;
    let datatype = datatype::for_communication(datatype.0)?;
    let bytes = packed_len(&datatype, outcount)?;
    let position = position.variable()?;
    let end = end_of(*position, bytes, insize)?;
    if bytes > 0 {
        check_addresses(outbuf, inbuf, bytes, &datatype)?;
        let from = inbuf.cast::<u8>().wrapping_offset(*position as isize);
        // SAFETY: the program's buffer has `insize` bytes, and these lie within.
        let from = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
        // SAFETY: the program promises that the destination is valid.
        unsafe { external32::unpack(&datatype, outbuf.cast(), outcount, from) }?;
    }
    *position = end;
    Ok(())
}

pub(crate) fn pack_external_size(
    datarep: Text<'_>,
    incount: i64,
    datatype: DatatypeHandle,
    size: Out<i64>,
) -> Result<()> {
    check_representation(datarep)?;
    size.set(packed_len(&datatype::from_handle(datatype.0)?, incount)?)
}
