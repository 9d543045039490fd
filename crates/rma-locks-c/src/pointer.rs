//! The one place that reads pointers from C.

use crate::error::{Failure, Status};
use std::ffi::{CStr, c_char};

pub(crate) fn null(what: &str) -> Failure {
    Failure::new(Status::NullPointer, format!("{what} is null"))
}

/// The value that a handle points to.
///
/// # Safety
///
/// `pointer` is null, or from `heddle_rma_lock_create` and not freed before the end of `'a`.
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

/// A copy of `count` values.
///
/// # Safety
///
/// `pointer` is null, or points to `count` values.
pub(crate) unsafe fn values<T: Clone>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<Vec<T>, Failure> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, so it points to `count` values by the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) }.to_vec())
}

/// A copy of a value, or nothing for null.
///
/// # Safety
///
/// `pointer` is null, or points to a value.
pub(crate) unsafe fn value<T: Clone>(pointer: *const T) -> Option<T> {
    // SAFETY: null, or points to a value by the caller's promise.
    unsafe { pointer.as_ref() }.cloned()
}

/// Stores a value through `out`, which must not be null.
///
/// # Safety
///
/// `out` is null or may be written.
pub(crate) unsafe fn store<T>(out: *mut *mut T, what: &str, value: *mut T) -> Result<(), Failure> {
    if out.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, so it may be written by the caller's promise.
    unsafe { out.write(value) };
    Ok(())
}

/// Takes a handle back from C.
///
/// # Safety
///
/// `pointer` came from `Box::into_raw`, and no thread uses it any more.
pub(crate) unsafe fn take_back<T>(pointer: *mut T) -> Box<T> {
    // SAFETY: the caller's promise.
    unsafe { Box::from_raw(pointer) }
}
