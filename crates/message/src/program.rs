//! Functions of the program that the library calls: operators, copies and deletions of attributes, error
//! handlers, and those of generalized requests.
//!
//! Such a function may wait for another thread of the program, and that thread may want MPI: Python's
//! interpreter lock is such a case. So no thread may be in a critical section while it runs one. A VNI's is
//! left by then, because operations on a VNI are closures that run nothing of the program. The critical
//! section of a call is left here, and here alone: the pointer can be called in no other way.
//!
//! The callbacks of MPI_T's events are another thing: they tell of what happens within a critical section,
//! and MPI lets them call hardly anything.

use crate::domain;
use heddle_spec::Status;
use std::ffi::{c_int, c_void};

/// How the functions of programs of an ABI know what the library and they tell each other.
#[derive(Debug)]
pub struct ProgramAbi {
    /// A handle as such a function gets it: in a register, or behind a pointer.
    pub handle: fn(usize) -> usize,
    /// An error code as such a function gets it.
    pub error: fn(c_int) -> c_int,
    /// The error code that such a function means.
    pub error_of: fn(c_int) -> c_int,
    /// Hands over a status for a function to fill, and takes back what it has set.
    pub status: fn(&mut Status, &mut dyn FnMut(*mut c_void) -> c_int) -> c_int,
}

/// The standard's ABI: all is as the library has it.
static STANDARD: ProgramAbi = ProgramAbi {
    handle: std::convert::identity,
    error: std::convert::identity,
    error_of: std::convert::identity,
    status: |status, call| call(std::ptr::from_mut(status).cast()),
};

impl Default for &ProgramAbi {
    fn default() -> Self {
        &STANDARD
    }
}

/// A function of the program.
#[derive(Debug, Clone, Copy)]
pub struct ProgramFunction<F> {
    function: F,
    abi: &'static ProgramAbi,
}

impl<F: Copy> ProgramFunction<F> {
    /// Wraps the pointer of a function of a program of the standard's ABI.
    pub fn new(function: F) -> ProgramFunction<F> {
        ProgramFunction::of(function, &STANDARD)
    }

    /// Wraps the pointer of a function of a program of this ABI.
    pub fn of(function: F, abi: &'static ProgramAbi) -> ProgramFunction<F> {
        ProgramFunction { function, abi }
    }

    /// The ABI of its program.
    pub fn abi(&self) -> &'static ProgramAbi {
        self.abi
    }

    /// Passes the pointer to `call`, which calls it, outside of all critical sections. Other threads are in
    /// the library meanwhile, also under granularity `global`: the caller has to look again at what they may
    /// have changed.
    pub fn call<R>(self, call: impl FnOnce(F) -> R) -> R {
        // `MPI_Finalize` calls such functions, too, and the thread may stay in the section of the call after
        // the end of the library.
        match domain::ever() {
            Some(domain) => domain.calls().for_program(|| call(self.function)),
            None => call(self.function),
        }
    }
}
