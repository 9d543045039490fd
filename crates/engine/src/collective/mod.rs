//! Collective operations (MPI 5.0, chapter 6).

mod barrier;

pub use barrier::barrier;

/// Tags of the messages inside collective operations, one an operation.
mod tag {
    pub(super) const BARRIER: i32 = 1;
}
