//! Language bindings: conversion of handles, Fortran types, the ABI.
//!
//! The integer of a predefined handle is its value; that of any other has bit 30 set, and the index of the
//! object in its table below that.

use crate::argument::{ListOut, Out};
use crate::error::{Error, Result};
use heddle_comm::COMMS;
use heddle_comm::datatype::{self, DERIVED};
use heddle_comm::errhandler;
use heddle_comm::group::GROUPS;
use heddle_comm::info::{self, INFOS};
use heddle_comm::op::OPS;
use heddle_comm::session::SESSIONS;
use heddle_datatype::types;
use heddle_p2p::request;
use heddle_rma::WINS;
use heddle_spec::constants as mpi;
use heddle_spec::handle::*;
use std::ffi::{c_int, c_void};

pub(crate) fn abi_get_version(major: Out<c_int>, minor: Out<c_int>) -> Result<()> {
    major.set(mpi::MPI_ABI_VERSION)?;
    minor.set(mpi::MPI_ABI_SUBVERSION)
}

fn told(entries: &[(&str, &str)]) -> InfoHandle {
    InfoHandle(info::new_handle(
        entries.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
    ))
}

/// The sizes of the ABI's integers, in bytes.
pub(crate) fn abi_get_info(info: Out<InfoHandle>) -> Result<()> {
    let info = info.variable()?;
    *info = told(&[("mpi_aint_size", "8"), ("mpi_count_size", "8"), ("mpi_offset_size", "8")]);
    Ok(())
}

/// The sizes of Fortran's default types, in bytes, and whether there is a type of each given size.
const FORTRAN: [(&str, &str); 23] = [
    ("mpi_logical_size", "4"),
    ("mpi_integer_size", "4"),
    ("mpi_real_size", "4"),
    ("mpi_double_precision_size", "8"),
    ("mpi_logical1_supported", "true"),
    ("mpi_logical2_supported", "true"),
    ("mpi_logical4_supported", "true"),
    ("mpi_logical8_supported", "true"),
    ("mpi_logical16_supported", "true"),
    ("mpi_integer1_supported", "true"),
    ("mpi_integer2_supported", "true"),
    ("mpi_integer4_supported", "true"),
    ("mpi_integer8_supported", "true"),
    ("mpi_integer16_supported", "true"),
    ("mpi_real2_supported", "true"),
    ("mpi_real4_supported", "true"),
    ("mpi_real8_supported", "true"),
    ("mpi_real16_supported", "true"),
    ("mpi_double_complex_supported", "true"),
    ("mpi_complex4_supported", "true"),
    ("mpi_complex8_supported", "true"),
    ("mpi_complex16_supported", "true"),
    ("mpi_complex32_supported", "true"),
];

pub(crate) fn abi_get_fortran_info(info: Out<InfoHandle>) -> Result<()> {
    let info = info.variable()?;
    *info = told(&FORTRAN);
    Ok(())
}

/// The program cannot set what [`FORTRAN`] says, or other truth values.
pub(crate) fn abi_set_fortran_info(info: InfoHandle) -> Result<()> {
    info::from_handle(info.0)?;
    Err(known("the sizes of Fortran's types", "MPI_Abi_get_fortran_info"))
}

/// gfortran and flang store `.true.` as 1 and `.false.` as 0, in an integer of the `LOGICAL`'s size.
pub(crate) fn abi_get_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
    is_set: Out<c_int>,
) -> Result<()> {
    let size = checked_logical_size(logical_size)?;
    for (logical, value) in [(logical_true, 1), (logical_false, 0)] {
        let (low, high) = bytes_of_logical(logical, size)?.split_at_mut(1);
        low.fill(value);
        high.fill(0);
    }
    is_set.set(1)
}

pub(crate) fn abi_set_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
) -> Result<()> {
    let size = checked_logical_size(logical_size)?;
    for logical in [logical_true, logical_false] {
        bytes_of_logical(logical, size)?;
    }
    Err(known("the values of .true. and .false.", "MPI_Abi_get_fortran_booleans"))
}

/// The error of a function that sets what Heddle knows of Fortran (MPI 5.0 lets only an implementation that
/// does not know it be told).
fn known(what: &str, getter: &str) -> Error {
    let message = format!("Heddle knows {what} for gfortran and flang, so they cannot be set; ask {getter}");
    Error::new(mpi::MPI_ERR_ABI, message)
}

/// The number of bytes of a `LOGICAL` that [`FORTRAN`] has.
fn checked_logical_size(size: c_int) -> Result<usize> {
    let key = format!("mpi_logical{size}_supported");
    let is_there = FORTRAN.contains(&(key.as_str(), "true"));
    usize::try_from(size).ok().filter(|_| is_there).ok_or_else(|| {
        let message = format!(
            "logical_size is {size}, which is no size of a LOGICAL; pass 1, 2, 4, 8 or 16 (4 for the default LOGICAL)"
        );
        Error::new(mpi::MPI_ERR_ARG, message)
    })
}

/// The program's variable at `logical`, which has `size` bytes and need not be aligned.
fn bytes_of_logical<'a>(logical: *mut c_void, size: usize) -> Result<&'a mut [u8]> {
    // SAFETY: the pointer is null or the program promises a LOGICAL of `size` bytes there, which nobody else
    // uses until the function returns.
    unsafe { ListOut::new(logical.cast()) }.slice(size)
}

/// Values below this one are predefined handles.
const PREDEFINED: usize = 4096;
/// What integers become that name nothing: no object has it, and it is no null handle either.
const INVALID: usize = 0;
/// Set in the integers of all other handles.
const MADE: c_int = 1 << 30;

fn to_int(handle: usize) -> c_int {
    if handle < PREDEFINED { handle as c_int } else { MADE | (handle as c_int & (MADE - 1)) }
}

fn from_int(number: c_int, of_index: impl FnOnce(u32) -> Option<usize>) -> usize {
    if number & MADE != 0 && number > 0 {
        return of_index((number & (MADE - 1)) as u32).unwrap_or(INVALID);
    }
    usize::try_from(number).ok().filter(|&handle| handle < PREDEFINED).unwrap_or(INVALID)
}

macro_rules! conversions {
    ($($to:ident, $from:ident: $handle:ident, $of_index:expr;)*) => {$(
        pub(crate) fn $to(handle: $handle) -> c_int {
            to_int(handle.0)
        }

        pub(crate) fn $from(number: c_int) -> $handle {
            $handle(from_int(number, $of_index))
        }
    )*};
}

conversions! {
    comm_toint, comm_fromint: CommHandle, |index| COMMS.handle_of_index(index);
    errhandler_toint, errhandler_fromint: ErrhandlerHandle, errhandler::handle_of_index;
    group_toint, group_fromint: GroupHandle, |index| GROUPS.handle_of_index(index);
    info_toint, info_fromint: InfoHandle, |index| INFOS.handle_of_index(index);
    message_toint, message_fromint: MessageHandle, heddle_p2p::message_of_index;
    op_toint, op_fromint: OpHandle, |index| OPS.handle_of_index(index);
    request_toint, request_fromint: RequestHandle, request::handle_of_index;
    type_toint, type_fromint: DatatypeHandle, |index| DERIVED.handle_of_index(index);
    file_toint, file_fromint: FileHandle, |_| None;
    session_toint, session_fromint: SessionHandle, |index| SESSIONS.handle_of_index(index);
    win_toint, win_fromint: WinHandle, |index| WINS.handle_of_index(index);
}

pub(crate) fn type_match_size(typeclass: c_int, size: c_int, datatype: Out<DatatypeHandle>) -> Result<()> {
    let found = match (typeclass, size) {
        (mpi::MPI_TYPECLASS_INTEGER, 1) => &types::MPI_INTEGER1,
        (mpi::MPI_TYPECLASS_INTEGER, 2) => &types::MPI_INTEGER2,
        (mpi::MPI_TYPECLASS_INTEGER, 4) => &types::MPI_INTEGER4,
        (mpi::MPI_TYPECLASS_INTEGER, 8) => &types::MPI_INTEGER8,
        (mpi::MPI_TYPECLASS_INTEGER, 16) => &types::MPI_INTEGER16,
        (mpi::MPI_TYPECLASS_REAL, 2) => &types::MPI_REAL2,
        (mpi::MPI_TYPECLASS_REAL, 4) => &types::MPI_REAL4,
        (mpi::MPI_TYPECLASS_REAL, 8) => &types::MPI_REAL8,
        (mpi::MPI_TYPECLASS_REAL, 16) => &types::MPI_REAL16,
        (mpi::MPI_TYPECLASS_COMPLEX, 4) => &types::MPI_COMPLEX4,
        (mpi::MPI_TYPECLASS_COMPLEX, 8) => &types::MPI_COMPLEX8,
        (mpi::MPI_TYPECLASS_COMPLEX, 16) => &types::MPI_COMPLEX16,
        (mpi::MPI_TYPECLASS_COMPLEX, 32) => &types::MPI_COMPLEX32,
        _ => {
            let message = format!("there is no datatype of the class {typeclass} with {size} bytes");
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
    };
    let handle = found.predefined_basic().map_or(mpi::MPI_DATATYPE_NULL, |basic| basic.handle);
    datatype.set(DatatypeHandle(handle))
}

pub(crate) fn type_create_f90_real(p: c_int, r: c_int, newtype: Out<DatatypeHandle>) -> Result<()> {
    newtype.set(DatatypeHandle(datatype::f90_real(p, r)?))
}

pub(crate) fn type_create_f90_complex(p: c_int, r: c_int, newtype: Out<DatatypeHandle>) -> Result<()> {
    newtype.set(DatatypeHandle(datatype::f90_complex(p, r)?))
}

pub(crate) fn type_create_f90_integer(r: c_int, newtype: Out<DatatypeHandle>) -> Result<()> {
    newtype.set(DatatypeHandle(datatype::f90_integer(r)?))
}
