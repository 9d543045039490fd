//! Truth values: gfortran and flang store 1 for `.true.` and 0 for `.false.`, and take any other number for
//! `.true.`, too.

use std::ffi::c_int;

/// C's form of a `LOGICAL`.
#[inline(always)]
pub(crate) fn to_c(value: c_int) -> c_int {
    c_int::from(value != 0)
}

/// Fortran's form of C's truth value.
#[inline(always)]
pub(crate) fn to_fortran(value: c_int) -> c_int {
    c_int::from(value != 0)
}
