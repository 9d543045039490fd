//! The one place that reads pointers from C.

use crate::{CallStatus, FailedCall};
use std::ffi::{CStr, c_char};

/// The failure of a call with a null pointer.
#[must_use]
pub fn null<S: CallStatus>(what: &str) -> FailedCall<S> {
    FailedCall::new(S::NULL_POINTER, format!("{what} is null"))
}

/// The value that a handle points to; `None` for null.
///
/// # Safety
///
/// `pointer` is null, or from [`give`] or [`store`] and not taken back before the end of `'a`.
pub unsafe fn borrow<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: null, or alive for 'a by the caller's promise; handles are shared, never borrowed exclusively.
    unsafe { pointer.as_ref() }
}

/// The value that a handle points to, which must not be null.
///
/// # Safety
///
/// As for [`borrow`].
///
/// # Errors
///
/// If `pointer` is null.
pub unsafe fn handle<'a, T, S: CallStatus>(pointer: *const T, what: &str) -> Result<&'a T, FailedCall<S>> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow(pointer) }.ok_or_else(|| null(what))
}

/// A name from C. Bytes that are not UTF-8 are replaced: such a name is unknown anyway.
///
/// # Safety
///
/// `pointer` is null, or points to a string that ends with a zero.
///
/// # Errors
///
/// If `pointer` is null.
pub unsafe fn name<S: CallStatus>(pointer: *const c_char) -> Result<String, FailedCall<S>> {
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
///
/// # Errors
///
/// If `pointer` is null.
pub unsafe fn values<T: Clone, S: CallStatus>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<Vec<T>, FailedCall<S>> {
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
pub unsafe fn value<T: Clone>(pointer: *const T) -> Option<T> {
    // SAFETY: null, or points to a value by the caller's promise.
    unsafe { pointer.as_ref() }.cloned()
}

/// Stores a value through `out`, which must not be null.
///
/// # Safety
///
/// `out` is null or may be written.
///
/// # Errors
///
/// If `out` is null.
pub unsafe fn store<T, S: CallStatus>(
    out: *mut *mut T,
    what: &str,
    value: *mut T,
) -> Result<(), FailedCall<S>> {
    if out.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null, so it may be written by the caller's promise.
    unsafe { out.write(value) };
    Ok(())
}

/// Makes a handle of `make`'s value and gives it to C through `out`, which must not be null.
///
/// # Safety
///
/// `out` is null or may be written.
///
/// # Errors
///
/// If `out` is null, or that of `make`.
pub unsafe fn give<T, S: CallStatus>(
    out: *mut *mut T,
    what: &str,
    make: impl FnOnce() -> Result<T, FailedCall<S>>,
) -> Result<(), FailedCall<S>> {
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
/// `pointer` came from [`give`] or `Box::into_raw`, and no thread uses it any more.
pub unsafe fn take_back<T>(pointer: *mut T) -> Box<T> {
    // SAFETY: the caller's promise.
    unsafe { Box::from_raw(pointer) }
}
