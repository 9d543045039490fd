//! Handles: in MPICH's ABI they are the same number in both languages, but for files, which C knows by a
//! pointer.

use std::ffi::c_int;

/// A handle as C has it.
pub(crate) type Handle = c_int;

/// That of a file.
pub(crate) type FileHandle = usize;

/// A handle of either kind.
pub(crate) trait InC: Sized {
    /// The handle of an integer.
    fn of(value: c_int, convert: unsafe extern "C" fn(c_int) -> Self) -> Self;
    /// The integer of a handle.
    fn to_int(self, convert: unsafe extern "C" fn(Self) -> c_int) -> c_int;
}

impl InC for Handle {
    #[inline(always)]
    fn of(value: c_int, _: unsafe extern "C" fn(c_int) -> Handle) -> Handle {
        value
    }

    #[inline(always)]
    fn to_int(self, _: unsafe extern "C" fn(Handle) -> c_int) -> c_int {
        self
    }
}

impl InC for FileHandle {
    fn of(value: c_int, convert: unsafe extern "C" fn(c_int) -> FileHandle) -> FileHandle {
        // SAFETY: the function takes any integer.
        unsafe { convert(value) }
    }

    fn to_int(self, convert: unsafe extern "C" fn(FileHandle) -> c_int) -> c_int {
        // SAFETY: the handle comes from the MPI library.
        unsafe { convert(self) }
    }
}

/// The handle of an integer; `convert` is the MPI library's function for that.
#[inline(always)]
pub(crate) fn from_int<H: InC>(value: c_int, convert: unsafe extern "C" fn(c_int) -> H) -> H {
    H::of(value, convert)
}

/// The integer of a handle.
#[inline(always)]
pub(crate) fn to_int<H: InC>(handle: H, convert: unsafe extern "C" fn(H) -> c_int) -> c_int {
    handle.to_int(convert)
}
