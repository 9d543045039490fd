//! The one place that reads pointers from C.

use crate::error::{Failure, Status};
use std::ffi::{CStr, c_char};

fn null(what: &str) -> Failure {
    Failure::new(Status::NullPointer, format!("{what} is null"))
}

/// The value that a handle points to.
///
/// # Safety
///
/// `pointer` is null, or from `heddle_*_create` and not destroyed before the end of `'a`.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: null, or alive for 'a by the caller's promise; handles are shared, never borrowed exclusively.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// A name from C. Bytes that are not UTF-8 are replaced: such a name is unknown anyway.
///
/// # Safety
///
/// `pointer` is null, or points to a string that ends with a zero.
pub(crate) unsafe fn name(pointer: *const c_char) -> Result<String, Failure> {
    if pointer.is_null() {
        return Err(null("kind"));
    }
    // SAFETY: not null, so a string by the caller's promise.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// Makes a handle of `make`'s value and gives it to C through `out`, which must not be null.
///
/// # Safety
///
/// `out` is null or may be written.
pub(crate) unsafe fn give<T>(
    out: *mut *mut T,
    what: &str,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(null(what));
    }
    // A caller that forgets to check the status then finds null instead of the old value.
    // SAFETY: not null, so it may be written by the caller's promise.
    unsafe { out.write(std::ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: not null, so it may be written by the caller's promise.
    unsafe { out.write(made) };
    Ok(())
}

/// Takes a handle back from C.
///
/// # Safety
///
/// `pointer` came from [`give`], and no thread uses it any more.
pub(crate) unsafe fn take_back<T>(pointer: *mut T) {
    // SAFETY: made by Box::into_raw in give(), and not used again, by the caller's promise.
    drop(unsafe { Box::from_raw(pointer) });
}
