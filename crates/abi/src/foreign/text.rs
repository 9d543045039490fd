//! Texts for which a program has less room than the standard's ABI asks for.

use heddle_spec::constants::MPI_SUCCESS;
use std::ffi::{c_char, c_int};

/// A text of up to `OURS` characters for a program that has room for `THEIRS`, both with the final zero.
pub(super) struct ShorterText<const OURS: usize, const THEIRS: usize> {
    to: *mut c_char,
    whole: [c_char; OURS],
}

impl<const OURS: usize, const THEIRS: usize> ShorterText<OURS, THEIRS> {
    /// For a program's text there, which may be null.
    pub(super) fn new(to: *mut c_char) -> Self {
        ShorterText { to, whole: [0; OURS] }
    }

    /// The address for the call.
    pub(super) fn pointer(&mut self) -> *mut c_char {
        if self.to.is_null() { self.to } else { self.whole.as_mut_ptr() }
    }

    /// Hands over what the call has set, as far as there is room, and how long that is.
    ///
    /// # Safety
    /// The call has returned `code`; the program has room for so many characters. The address of the length
    /// is null, or that of a variable which the call has set.
    pub(super) unsafe fn hand_over(&mut self, code: c_int, length: *mut c_int) {
        if code != MPI_SUCCESS || self.to.is_null() {
            return;
        }
        let end = self.whole.iter().position(|&character| character == 0).unwrap_or(OURS);
        let end = end.min(THEIRS - 1);
        self.whole[end] = 0;
        // SAFETY: the caller's promise.
        unsafe { self.to.copy_from(self.whole.as_ptr(), end + 1) };
        // SAFETY: the same.
        if let Some(length) = unsafe { length.as_mut() } {
            *length = end as c_int;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        let (mut to, mut length) = ([1; 4], 5);
        let mut text = ShorterText::<8, 4>::new(to.as_mut_ptr());
        let characters = b"mpich\0".map(|byte| byte as c_char);
        text.whole[..6].copy_from_slice(&characters);
        // SAFETY: variables of ours.
        unsafe { text.hand_over(MPI_SUCCESS, &raw mut length) };
        assert_eq!((to.map(|character| character as u8), length), (*b"mpi\0", 3));
    }
}
