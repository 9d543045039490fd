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

/// A function of the program.
#[derive(Debug, Clone, Copy)]
pub struct ProgramFunction<F>(F);

impl<F: Copy> ProgramFunction<F> {
    /// Wraps the pointer of a function.
    pub fn new(function: F) -> ProgramFunction<F> {
        ProgramFunction(function)
    }

    /// Passes the pointer to `call`, which calls it, outside of all critical sections. Other threads are in
    /// the library meanwhile, also under granularity `global`: the caller has to look again at what they may
    /// have changed.
    pub fn call<R>(self, call: impl FnOnce(F) -> R) -> R {
        // `MPI_Finalize` calls such functions, too, and the thread may stay in the section of the call after
        // the end of the library.
        match domain::ever() {
            Some(domain) => domain.calls().for_program(|| call(self.0)),
            None => call(self.0),
        }
    }
}
