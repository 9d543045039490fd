//! Handles that a call sets.

use super::foreign::Foreign;
use super::unset::UNSET_HANDLE;
use std::marker::PhantomData;

/// A handle that a call sets, or reads and sets.
pub(super) struct HandleOut<H: Foreign> {
    at: *mut H::Number,
    before: usize,
    word: usize,
    kind: PhantomData<H>,
}

impl<H: Foreign> HandleOut<H> {
    /// For a call that may set the handle.
    #[inline(always)]
    pub(super) fn new(at: *mut H::Number) -> HandleOut<H> {
        HandleOut { at, before: UNSET_HANDLE, word: UNSET_HANDLE, kind: PhantomData }
    }

    /// For a call that reads it first.
    ///
    /// # Safety
    /// The address is null or that of a handle.
    #[inline(always)]
    pub(super) unsafe fn given(at: *mut H::Number) -> HandleOut<H> {
        // SAFETY: the caller's promise.
        let number = unsafe { at.as_ref() };
        let word = number.map_or(0, |number| H::of_number(*number).word());
        HandleOut { at, before: word, word, kind: PhantomData }
    }

    /// The address for the call.
    #[inline(always)]
    pub(super) fn pointer(&mut self) -> *mut H {
        if self.at.is_null() { std::ptr::null_mut() } else { (&raw mut self.word).cast() }
    }

    /// Hands over what the call has set: otherwise the variable stays, whatever it holds.
    ///
    /// # Safety
    /// The address is null or that of a variable of the program's.
    #[inline(always)]
    pub(super) unsafe fn hand_over(&self) {
        if !self.at.is_null() && self.word != self.before {
            // SAFETY: the caller's promise.
            unsafe { *self.at = H::of_word(self.word).number() };
        }
    }
}
