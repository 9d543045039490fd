//! Single output values.

use crate::error::{Error, Result};
use heddle_p2p::Refusal;
use heddle_spec::constants::MPI_ERR_ARG;
use std::ptr::NonNull;

/// A variable of the program in which a function stores a result; some functions read it first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out<T>(Option<NonNull<T>>);

impl<T: Copy> Out<T> {
    /// # Safety
    ///
    /// `pointer` is null, or valid for writing a `T` until the function returns; where `get` is used, for
    /// reading too.
    pub(crate) unsafe fn new(pointer: *mut T) -> Self {
        Self(NonNull::new(pointer))
    }

    /// Stores `value`.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn set(self, value: T) -> Result<()> {
        let pointer = self.0.ok_or_else(null_pointer)?;
        // SAFETY: `new` was promised that the pointer is valid for writing.
        unsafe { pointer.write(value) };
        Ok(())
    }

    /// Stores `value` unless the pointer is null, which means that the program does not want it.
    pub(crate) fn offer(self, value: T) {
        if let Some(pointer) = self.0 {
            // SAFETY: `new` was promised that the pointer is valid for writing.
            unsafe { pointer.write(value) };
        }
    }

    /// The value that the program stored, if it gave one.
    pub(crate) fn given(self) -> Option<T> {
        // SAFETY: `new` was promised that the pointer is valid for reading.
        self.0.map(|pointer| unsafe { pointer.read() })
    }

    /// The value that the program stored.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn get(self) -> Result<T> {
        let pointer = self.0.ok_or_else(null_pointer)?;
        // SAFETY: `new` was promised that the pointer is valid for reading.
        Ok(unsafe { pointer.read() })
    }
}

impl<T: Copy> Out<T> {
    /// The program's variable, for a value that is read and written.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    #[inline(always)]
    pub(crate) fn variable<'a>(self) -> Result<&'a mut T> {
        self.pointee().ok_or_else(null_pointer)
    }

    /// The same for an express path, which leaves a null pointer to the general path.
    #[inline(always)]
    pub(crate) fn express<'a>(self) -> std::result::Result<&'a mut T, Refusal> {
        self.pointee().ok_or(Refusal::Unfit)
    }

    #[inline(always)]
    fn pointee<'a>(self) -> Option<&'a mut T> {
        // SAFETY: `new` was promised a variable that no other thread uses until the function returns.
        self.0.map(|mut pointer| unsafe { pointer.as_mut() })
    }
}

/// The error for a null pointer where something is to be read or stored.
#[cold]
pub(super) fn null_pointer() -> Error {
    Error::new(MPI_ERR_ARG, "an argument is a null pointer; pass the address of a variable")
}

/// The value at `pointer`.
///
/// # Safety
///
/// `pointer` is null or valid for reading.
pub(crate) unsafe fn pointed_to<T: Copy>(pointer: *const T) -> Option<T> {
    // SAFETY: the caller promises that a pointer that is not null is valid for reading.
    unsafe { pointer.as_ref() }.copied()
}
