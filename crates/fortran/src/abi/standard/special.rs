//! Constants that are known by their address: variables of two common blocks, which every program unit with
//! `mpif.h` or one of the modules has, too. The dynamic linker picks one of each name.

use super::Status;
use super::constants::{MPI_BUFFER_AUTOMATIC, MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

/// The common block `HEDDLE_MPI_ADDRESSES` of Fortran.
#[repr(C)]
pub(crate) struct Addresses {
    bottom: c_int,
    in_place: c_int,
    buffer_automatic: c_int,
    unweighted: c_int,
    weights_empty: c_int,
    errcodes_ignore: c_int,
    status_ignore: [c_int; 8],
    statuses_ignore: [c_int; 8],
}

/// The library's own copy of the block, which is in use if no other one comes before it.
#[unsafe(export_name = "heddle_mpi_addresses_")]
static mut ADDRESSES: Addresses = Addresses {
    bottom: 0,
    in_place: 0,
    buffer_automatic: 0,
    unweighted: 0,
    weights_empty: 0,
    errcodes_ignore: 0,
    status_ignore: [0; 8],
    statuses_ignore: [0; 8],
};

/// Where the block lies that the linker has picked.
static AT: AtomicUsize = AtomicUsize::new(0);

/// Runs when the library is loaded.
extern "C" fn find() {
    // SAFETY: a name that ends with a null.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"heddle_mpi_addresses_".as_ptr()) };
    let own = (&raw const ADDRESSES).addr();
    AT.store(if found.is_null() { own } else { found.addr() }, Ordering::Relaxed);
}

#[used]
#[unsafe(link_section = ".init_array")]
static FIND: extern "C" fn() = find;

/// The position of an address in the block, if it lies there.
#[inline(always)]
fn position(address: *const c_void) -> Option<usize> {
    let position = address.addr().wrapping_sub(AT.load(Ordering::Relaxed));
    (position < size_of::<Addresses>()).then_some(position)
}

/// C's form of a buffer.
#[inline(always)]
pub(crate) fn buffer(address: *mut c_void) -> *mut c_void {
    match position(address) {
        None => address,
        Some(position) => special_buffer(position, address),
    }
}

#[cold]
fn special_buffer(position: usize, address: *mut c_void) -> *mut c_void {
    const BOTTOM: usize = offset_of!(Addresses, bottom);
    const IN_PLACE: usize = offset_of!(Addresses, in_place);
    const AUTOMATIC: usize = offset_of!(Addresses, buffer_automatic);
    match position {
        BOTTOM => std::ptr::null_mut(),
        IN_PLACE => std::ptr::without_provenance_mut(MPI_IN_PLACE),
        AUTOMATIC => std::ptr::without_provenance_mut(MPI_BUFFER_AUTOMATIC),
        _ => address,
    }
}

/// C's form of a status, or of an array of them; both have the same layout in Fortran.
#[inline(always)]
pub(crate) fn status(status: *mut Status) -> *mut Status {
    const IGNORE: usize = offset_of!(Addresses, status_ignore);
    const IGNORES: usize = offset_of!(Addresses, statuses_ignore);
    match position(status.cast()) {
        Some(IGNORE | IGNORES) => std::ptr::null_mut(),
        _ => status,
    }
}

/// C's form of the weights of edges.
pub(crate) fn weights(weights: *mut c_int) -> *mut c_int {
    const UNWEIGHTED: usize = offset_of!(Addresses, unweighted);
    const EMPTY: usize = offset_of!(Addresses, weights_empty);
    match position(weights.cast()) {
        Some(UNWEIGHTED) => std::ptr::without_provenance_mut(MPI_UNWEIGHTED),
        Some(EMPTY) => std::ptr::without_provenance_mut(MPI_WEIGHTS_EMPTY),
        _ => weights,
    }
}

/// Returns true if a buffer is `MPI_IN_PLACE`.
pub(crate) fn is_in_place(address: *const c_void) -> bool {
    position(address) == Some(offset_of!(Addresses, in_place))
}
