//! Constants that are known by their address: variables of `mpif.h`, of the module `mpi` and of `mpi_f08`. A
//! program that uses one has the variable, too, and the dynamic linker picks one of each name.

use super::Status;
use super::constants::{MPI_BUFFER_AUTOMATIC, MPI_IN_PLACE};
use std::ffi::{c_int, c_void};

/// The common block `MPIPRIV1`.
#[repr(C)]
struct First {
    bottom: c_int,
    in_place: c_int,
    status_ignore: Status,
}

/// The common block `MPIPRIV2`.
#[repr(C)]
struct Second {
    statuses_ignore: Status,
    errcodes_ignore: c_int,
}

/// An address that nobody reads from.
#[repr(transparent)]
struct Address(*mut c_int);

// SAFETY: as nobody does.
unsafe impl Sync for Address {}

// libmpi.so.12 has copies of these (`heddle_spec::stubs`), which are in use if no others come before them.
unsafe extern "C" {
    safe static mpipriv1_: First;
    safe static mpipriv2_: Second;
    safe static mpifcmb5_: c_int;
    safe static mpifcmb9_: c_int;
    safe static mpifcmba_: c_int;
    safe static MPIR_F08_MPI_BOTTOM: c_int;
    safe static MPIR_F08_MPI_IN_PLACE: c_int;
    safe static MPIR_F08_MPI_STATUS_IGNORE_OBJ: Status;
    safe static MPIR_F08_MPI_STATUSES_IGNORE_OBJ: Status;
    safe static __mpi_f08_link_constants_MOD_mpi_unweighted: c_int;
    safe static __mpi_f08_link_constants_MOD_mpi_weights_empty: c_int;
    safe static __mpi_f08_link_constants_MOD_mpi_buffer_automatic: c_int;
    /// C's constants, which are variables there.
    safe static MPI_UNWEIGHTED: Address;
    safe static MPI_WEIGHTS_EMPTY: Address;
}

/// Returns true if an address is that of one of these variables.
macro_rules! is {
    ($address:expr, $($variable:expr),+) => {
        $(std::ptr::addr_eq($address, &raw const $variable))||+
    };
}

/// C's form of a buffer.
#[inline(always)]
pub(crate) fn buffer(address: *mut c_void) -> *mut c_void {
    if is!(address, mpipriv1_.bottom, MPIR_F08_MPI_BOTTOM) {
        std::ptr::null_mut()
    } else if is_in_place(address) {
        std::ptr::without_provenance_mut(MPI_IN_PLACE)
    } else if is!(address, mpifcmba_, __mpi_f08_link_constants_MOD_mpi_buffer_automatic) {
        std::ptr::without_provenance_mut(MPI_BUFFER_AUTOMATIC)
    } else {
        address
    }
}

/// C's form of a status, or of an array of them; both have the same layout in Fortran.
#[inline(always)]
pub(crate) fn status(status: *mut Status) -> *mut Status {
    let is_ignored = is!(
        status,
        mpipriv1_.status_ignore,
        mpipriv2_.statuses_ignore,
        MPIR_F08_MPI_STATUS_IGNORE_OBJ,
        MPIR_F08_MPI_STATUSES_IGNORE_OBJ
    );
    if is_ignored { std::ptr::null_mut() } else { status }
}

/// C's form of the weights of edges.
pub(crate) fn weights(weights: *mut c_int) -> *mut c_int {
    if is!(weights, mpifcmb5_, __mpi_f08_link_constants_MOD_mpi_unweighted) {
        MPI_UNWEIGHTED.0
    } else if is!(weights, mpifcmb9_, __mpi_f08_link_constants_MOD_mpi_weights_empty) {
        MPI_WEIGHTS_EMPTY.0
    } else {
        weights
    }
}

/// Returns true if a buffer is `MPI_IN_PLACE`.
#[inline(always)]
pub(crate) fn is_in_place(address: *const c_void) -> bool {
    is!(address, mpipriv1_.in_place, MPIR_F08_MPI_IN_PLACE)
}
