//! Handles: an integer in Fortran, a pointer in C that nobody reads.

use std::ffi::c_int;

/// A handle as C has it.
pub(crate) type Handle = usize;

/// That of a file.
pub(crate) type FileHandle = Handle;

/// The handles of the standard's constants are less than this, and are the same number in both languages
/// (MPI 5.0, section 20.3).
const CONSTANTS: usize = 1 << 12;

/// The handle of an integer; `convert` is the MPI library's function for that.
#[inline(always)]
pub(crate) fn from_int(value: c_int, convert: unsafe extern "C" fn(c_int) -> Handle) -> Handle {
    match usize::try_from(value) {
        Ok(constant) if constant < CONSTANTS => constant,
        // SAFETY: the function takes any integer.
        _ => unsafe { convert(value) },
    }
}

/// Returns true if handles, joined by `|`, are all constants.
#[inline(always)]
pub(crate) fn are_constants(handles: c_int) -> bool {
    constant(handles) < CONSTANTS
}

/// The handle of an integer that is a constant's.
#[inline(always)]
pub(crate) fn constant(value: c_int) -> Handle {
    value as u32 as Handle
}

/// The integer of a handle.
#[inline(always)]
pub(crate) fn to_int(handle: Handle, convert: unsafe extern "C" fn(Handle) -> c_int) -> c_int {
    if handle < CONSTANTS {
        return handle as c_int;
    }
    // SAFETY: the handle comes from the MPI library.
    unsafe { convert(handle) }
}
