//! Functions that a program passes.

use super::out::null_pointer;
use crate::error::Result;
use heddle_comm::program::{ProgramAbi, ProgramFunction};
use std::ffi::c_void;

/// A function that a program passes, or one of the standard's predefined constants instead of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    /// Address of the function; 0 and 1 may have a meaning of their own.
    pub(crate) address: *const c_void,
    /// True if it takes large counts.
    pub(crate) large: bool,
    /// The ABI of its program.
    pub(crate) abi: &'static ProgramAbi,
}

impl Callback {
    /// The function, where the standard gives no meaning to a null pointer.
    ///
    /// # Safety
    ///
    /// `F` is the function pointer type that the parameter has in `mpi.h`.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) unsafe fn function<F: Copy>(self) -> Result<ProgramFunction<F>> {
        // SAFETY: the caller's promise.
        Ok(ProgramFunction::of(unsafe { self.pointer() }?, self.abi))
    }

    /// The function's pointer, where what it is called with is the same for all programs.
    ///
    /// # Safety
    ///
    /// As for [`function`](Self::function).
    ///
    /// # Errors
    ///
    /// The same.
    pub(crate) unsafe fn pointer<F: Copy>(self) -> Result<F> {
        const { assert!(size_of::<F>() == size_of::<*const c_void>(), "F is a function pointer") };
        if self.address.is_null() {
            return Err(null_pointer());
        }
        // SAFETY: the caller promises that the function has this type; its pointer is not null.
        Ok(unsafe { std::mem::transmute_copy::<*const c_void, F>(&self.address) })
    }
}
