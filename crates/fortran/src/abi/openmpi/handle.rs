//! Handles: an integer in Fortran, an address in C that nobody reads. The MPI library knows which belong
//! together.

use std::ffi::c_int;

/// A handle as C has it.
pub(crate) type Handle = usize;

/// That of a file.
pub(crate) type FileHandle = Handle;

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
