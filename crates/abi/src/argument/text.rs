//! Text.

use super::out::{Out, null_pointer};
use crate::error::{Error, Result};
use heddle_spec::constants::MPI_ERR_ARG;
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;

/// Input text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// # Safety
    ///
    /// `pointer` is null or points to a string that ends with NUL.
    pub(crate) unsafe fn new(pointer: *const c_char) -> Self {
        Self(pointer, PhantomData)
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer, or text that is not UTF-8.
    pub(crate) fn get(self) -> Result<&'a str> {
        if self.0.is_null() {
            return Err(null_pointer());
        }
        // SAFETY: `new` was promised a string that ends with NUL.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str()
            .map_err(|error| Error::new(MPI_ERR_ARG, format!("a string argument is not UTF-8: {error}")))
    }
}

/// The destination of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextOut(*mut c_char);

impl TextOut {
    /// # Safety
    ///
    /// `pointer` is null or points to an array as long as the function's other arguments or the standard's
    /// constants say.
    pub(crate) unsafe fn new(pointer: *mut c_char) -> Self {
        Self(pointer)
    }

    /// Stores `text` as MPI_T returns it (MPI 5.0, section 15.3.3): `length` holds the length of the
    /// array and receives the length that the text needs. If either pointer is null, or the length is
    /// zero, no text is stored.
    pub(crate) fn offer(self, text: &str, length: Out<c_int>) {
        let Some(capacity) = length.given() else { return };
        if !self.0.is_null() && capacity > 0 {
            // The array has room for at least a NUL.
            let _ = self.set(text, capacity);
        }
        length.offer(text.len() as c_int + 1);
    }

    /// Stores `text` and a NUL in an array of `capacity`, cut off if it is too long. Returns
    /// its length without the NUL.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer or an array of no length.
    pub(crate) fn set(self, text: &str, capacity: c_int) -> Result<c_int> {
        let room = usize::try_from(capacity).unwrap_or(0).checked_sub(1);
        let room = room.filter(|_| !self.0.is_null()).ok_or_else(null_pointer)?;
        let text = &text[..text.floor_char_boundary(room)];
        let to = self.0.cast::<u8>();
        // SAFETY: `new` was promised an array of `capacity`, which is more than the text.
        unsafe { to.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: the array has room for the text and a NUL, by the promise made to `new`.
        let end = unsafe { to.add(text.len()) };
        // SAFETY: the array has room for the text and a NUL, by the promise made to `new`.
        unsafe { end.write(0) };
        Ok(text.len() as c_int)
    }
}
