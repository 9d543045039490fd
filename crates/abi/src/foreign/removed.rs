//! Entries by names that the standard's ABI does not have.

use super::constant;
use super::converted_status::is_ignored;
use super::foreign::{Foreign, Number};
use super::status::Status;
use crate::entry_points::MPI_Type_get_extent;
use heddle_spec::constants::{MPI_ERR_ARG, MPI_SUCCESS};
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_int;

/// The lower bound and the extent of a datatype, of which a function that is gone hands over one.
///
/// # Safety
/// The address is null or that of a variable, here and below.
unsafe fn bounds(
    datatype: Number<DatatypeHandle>,
    to: *mut isize,
    choose: impl FnOnce(i64, i64) -> i64,
) -> c_int {
    if to.is_null() {
        return constant::result(MPI_ERR_ARG);
    }
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: variables of ours.
    let code =
        unsafe { MPI_Type_get_extent(DatatypeHandle::of_number(datatype), &raw mut lower, &raw mut extent) };
    if code == MPI_SUCCESS {
        // SAFETY: the caller's promise.
        unsafe { *to = choose(lower, extent) as isize };
    }
    constant::result(code)
}

/// # Safety
/// The same.
pub(super) unsafe fn type_extent(datatype: Number<DatatypeHandle>, extent: *mut isize) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe { bounds(datatype, extent, |_, extent| extent) }
}

/// # Safety
/// The same.
pub(super) unsafe fn type_lb(datatype: Number<DatatypeHandle>, displacement: *mut isize) -> c_int {
    // SAFETY: the same.
    unsafe { bounds(datatype, displacement, |lower, _| lower) }
}

/// # Safety
/// The same.
pub(super) unsafe fn type_ub(datatype: Number<DatatypeHandle>, displacement: *mut isize) -> c_int {
    // SAFETY: the same.
    unsafe { bounds(datatype, displacement, |lower, extent| lower + extent) }
}

/// A status in Fortran is that in C.
///
/// # Safety
/// The addresses are null, those of statuses, or stand for none.
pub(super) unsafe fn status_copy(from: *const Status, to: *mut Status) -> c_int {
    if is_ignored(from) || is_ignored(to) {
        return constant::result(MPI_ERR_ARG);
    }
    // SAFETY: the caller's promise; integers of Fortran may lie at any address that suits them.
    let status = unsafe { from.read_unaligned() };
    // SAFETY: the same.
    unsafe { to.write_unaligned(status) };
    MPI_SUCCESS
}
