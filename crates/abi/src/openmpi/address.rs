//! Addresses with a special meaning: those of buffers are the standard's.

use super::constants as theirs;
use heddle_spec::constants as ours;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A buffer.
#[inline(always)]
pub(super) fn buffer(address: *const c_void) -> *mut c_void {
    address.cast_mut()
}

/// The weights of neighbours.
pub(super) fn weights(address: *const c_int) -> *const c_int {
    match address.addr() {
        theirs::MPI_UNWEIGHTED => ptr::without_provenance(ours::MPI_UNWEIGHTED),
        theirs::MPI_WEIGHTS_EMPTY => ptr::without_provenance(ours::MPI_WEIGHTS_EMPTY),
        _ => address,
    }
}

/// A handle of a performance variable.
pub(super) fn pvar_handle(word: usize) -> usize {
    if word == theirs::MPI_T_PVAR_ALL_HANDLES { ours::MPI_T_PVAR_ALL_HANDLES } else { word }
}

/// The address of a buffer that was detached.
pub(super) fn detached(_: c_int, _: *mut c_void) {}
