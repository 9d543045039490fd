//! The ABI of MPICH, for `libmpifort.so.12`. It calls the functions of `libmpi.so.12`.

pub(crate) mod descriptor;
pub(crate) mod handle;
pub(crate) mod special;

use std::ffi::c_int;

/// A status, as C and Fortran have it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Status([c_int; 5]);

/// C's values of the constants, from `mpich.table`.
pub(crate) mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

/// The key of a predefined attribute in C: the number before that in Fortran, whose attributes are integers
/// and not pointers to integers.
pub(crate) fn in_c(keyval: c_int) -> c_int {
    let before = keyval.wrapping_sub(1);
    if constants::KEYVALS.contains(&before) { before } else { keyval }
}
