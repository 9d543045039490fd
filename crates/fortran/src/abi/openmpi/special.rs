//! Constants that are known by their address: a common block for each, which a program that uses it has, too.
//! The dynamic linker picks one of each name.

use super::Status;
use super::constants::{MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use std::ffi::{c_int, c_void};

// libmpi.so.40 has copies of these (`heddle_spec::stubs`), which are in use if no others come before them.
unsafe extern "C" {
    safe static mpi_fortran_bottom_: c_int;
    safe static mpi_fortran_in_place_: c_int;
    safe static mpi_fortran_status_ignore_: Status;
    safe static mpi_fortran_statuses_ignore_: Status;
    safe static mpi_fortran_unweighted_: c_int;
    safe static mpi_fortran_weights_empty_: c_int;
}

/// C's form of a buffer.
#[inline(always)]
pub(crate) fn buffer(address: *mut c_void) -> *mut c_void {
    if std::ptr::addr_eq(address, &raw const mpi_fortran_bottom_) {
        std::ptr::null_mut()
    } else if is_in_place(address) {
        std::ptr::without_provenance_mut(MPI_IN_PLACE)
    } else {
        address
    }
}

/// C's form of a status, or of an array of them; both have the same layout in Fortran.
#[inline(always)]
pub(crate) fn status(status: *mut Status) -> *mut Status {
    let is_ignored = std::ptr::addr_eq(status, &raw const mpi_fortran_status_ignore_)
        || std::ptr::addr_eq(status, &raw const mpi_fortran_statuses_ignore_);
    if is_ignored { std::ptr::null_mut() } else { status }
}

/// C's form of the weights of edges.
pub(crate) fn weights(weights: *mut c_int) -> *mut c_int {
    if std::ptr::addr_eq(weights, &raw const mpi_fortran_unweighted_) {
        std::ptr::without_provenance_mut(MPI_UNWEIGHTED)
    } else if std::ptr::addr_eq(weights, &raw const mpi_fortran_weights_empty_) {
        std::ptr::without_provenance_mut(MPI_WEIGHTS_EMPTY)
    } else {
        weights
    }
}

/// Returns true if a buffer is `MPI_IN_PLACE`.
#[inline(always)]
pub(crate) fn is_in_place(address: *const c_void) -> bool {
    std::ptr::addr_eq(address, &raw const mpi_fortran_in_place_)
}
