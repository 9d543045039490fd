//! Error handlers (MPI 5.0, chapter 9.3).

use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::constants as mpi;

/// The handle of the error handler that an object has.
#[derive(Debug)]
pub struct ErrhandlerCell(AtomicUsize);

impl Default for ErrhandlerCell {
    fn default() -> ErrhandlerCell {
        ErrhandlerCell(AtomicUsize::new(mpi::MPI_ERRORS_ARE_FATAL))
    }
}

impl ErrhandlerCell {
    /// The handle.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the handle.
    pub fn set(&self, handle: usize) {
        self.0.store(handle, Ordering::Relaxed);
    }
}
