//! Characters: in Fortran they have a length and are padded with blanks, in C they end with a null.

use std::ffi::{CString, c_char};

/// Room for the longest text that MPI returns, `MPI_MAX_LIBRARY_VERSION_STRING` (the longest of its kind).
pub(crate) type Room = [u8; 8192];

/// An empty text, with room for any.
pub(crate) fn room() -> Room {
    [0; 8192]
}

/// C's form of a character argument without its trailing blanks; it ends at a null, if it has one.
///
/// # Safety
/// There are so many characters.
pub(crate) unsafe fn given(from: *const c_char, len: usize) -> CString {
    // SAFETY: by the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(len);
    let blanks = bytes[..end].iter().rev().take_while(|&&byte| byte == b' ').count();
    CString::new(&bytes[..end - blanks]).unwrap_or_default()
}

/// The same for keys and values of info objects, whose leading blanks do not count either (MPI 5.0,
/// section 10).
///
/// # Safety
/// There are so many characters.
pub(crate) unsafe fn given_trimmed(from: *const c_char, len: usize) -> CString {
    // SAFETY: by the caller's promise.
    let text = unsafe { given(from, len) };
    let blanks = text.as_bytes().iter().take_while(|&&byte| byte == b' ').count();
    CString::new(&text.as_bytes()[blanks..]).unwrap_or_default()
}

/// Stores a text in a character argument: what does not fit is cut off, and the rest is blank.
///
/// # Safety
/// There is room for so many characters.
pub(crate) unsafe fn store(text: &[u8], to: *mut c_char, len: usize) {
    // SAFETY: by the caller's promise.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), len) };
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len()).min(len);
    to[..end].copy_from_slice(&text[..end]);
    to[end..].fill(b' ');
}
