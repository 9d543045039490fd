//! Handles: an integer in Fortran, an address in C that nobody reads. Predefined ones are the addresses of
//! objects of `libmpi.so.40`, which stand in tables here (`build/predefined.rs`); of others the MPI library
//! knows which belong together.

use std::ffi::c_int;

/// A handle as C has it.
pub(crate) type Handle = usize;

/// That of a file.
pub(crate) type FileHandle = Handle;

/// A predefined handle: where an object of the MPI library lies.
#[repr(transparent)]
pub(crate) struct Predefined(pub(crate) *const u8);

impl Predefined {
    /// What stands in a table for an integer without a handle.
    pub(crate) const NONE: Predefined = Predefined(std::ptr::null());
}

// SAFETY: nobody reads what lies there.
unsafe impl Sync for Predefined {}

/// The handle of an integer, if it is in the table of its kind, or else what the MPI library says.
#[inline(always)]
pub(crate) fn of_integer(
    integer: c_int,
    known: &[Predefined],
    other: unsafe extern "C" fn(c_int) -> Handle,
) -> Handle {
    match known.get(integer as u32 as usize) {
        Some(handle) if !handle.0.is_null() => handle.0.expose_provenance(),
        // SAFETY: the function takes any integer.
        _ => unsafe { other(integer) },
    }
}

/// The handle of an integer; `convert` is the MPI library's function for that.
#[inline(always)]
pub(crate) fn from_int(value: c_int, convert: unsafe extern "C" fn(c_int) -> Handle) -> Handle {
    // SAFETY: the function takes any integer.
    unsafe { convert(value) }
}

/// The integer of a handle.
#[inline(always)]
pub(crate) fn to_int(handle: Handle, convert: unsafe extern "C" fn(Handle) -> c_int) -> c_int {
    // SAFETY: the handle comes from the MPI library.
    unsafe { convert(handle) }
}
