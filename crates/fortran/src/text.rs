//! Characters: in Fortran they have a length and are padded with blanks, in C they end with a null.

use std::ffi::{CString, c_char};

/// The longest text that MPI returns (`MPI_MAX_LIBRARY_VERSION_STRING`), in bytes.
const LONGEST: usize = 8192;

/// A buffer for any text that MPI returns.
pub(crate) fn buffer() -> [u8; LONGEST] {
    [0; LONGEST]
}

/// Converts `len` characters to a text of C, without trailing blanks. A null ends the text.
///
/// # Safety
/// The characters at `from` are valid.
pub(crate) unsafe fn to_c(from: *const c_char, len: usize) -> CString {
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
/// The characters at `from` are valid.
pub(crate) unsafe fn to_c_trimmed(from: *const c_char, len: usize) -> CString {
    // SAFETY: by the caller's promise.
    let text = unsafe { to_c(from, len) };
    let blanks = text.as_bytes().iter().take_while(|&&byte| byte == b' ').count();
    CString::new(&text.as_bytes()[blanks..]).unwrap_or_default()
}

/// Stores a text in a character argument: what does not fit is cut off, and the rest is blank.
///
/// # Safety
/// The `len` characters at `to` may be written.
pub(crate) unsafe fn to_fortran(text: &[u8], to: *mut c_char, len: usize) {
    // SAFETY: by the caller's promise.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), len) };
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len()).min(len);
    to[..end].copy_from_slice(&text[..end]);
    to[end..].fill(b' ');
}
