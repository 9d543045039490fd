//! Ways to run an operation on a shared value: by the caller, by the thread that has the lock at the moment,
//! or by a dedicated thread.
//!
//! | type | an operation is run by | `run` | `post` |
//! |---|---|---|---|
//! | [`Lock`] | the caller, under the lock | waits for the lock | the same |
//! | [`DsmSynch`] | the caller, or a thread before it in the queue | waits for the result | the same |
//! | [`LockQueue`] | the caller if the lock is free, else the lock's holder | waits for the result | leaves at once |
//! | [`Offload`] | one dedicated thread | waits for the result | leaves at once |
//!
//! All of them are [`Combining`], so a user is written once. Combining pays when the value's cache lines
//! would otherwise travel with every operation: the combiner keeps them and runs a batch.
//!
//! Beside them stands [`Delegated`]. It is like [`LockQueue`], but a post never waits, whatever happens to
//! the others; operations that no thread has run yet are then left behind, and its user sees to them.
//!
//! An operation is a closure. While [`run`](Combining::run) waits, the closure lies on the caller's stack,
//! so it may borrow from there and nothing is allocated. A posted operation itself reports its completion,
//! if a thread wants to know.
//!
//! **Panics.** If an operation of `run` panics, the panic goes on in the thread that called `run`, whichever
//! thread ran the operation. A posted operation that panics is over; the panic hook has reported it. No
//! other operation is lost, the value is as the operation left it, and nothing is poisoned (as in
//! `parking_lot`, and unlike `std`).

pub mod delegated;
pub mod dsm_synch;
pub mod lock_queue;
pub mod offload;
#[cfg(not(loom))]
pub mod offload_thread;
mod patience;
mod posted;
mod request;

pub use delegated::Delegated;
pub use dsm_synch::DsmSynch;
pub use lock_queue::LockQueue;
pub use offload::Offload;
#[cfg(not(loom))]
pub use offload_thread::OffloadThread;

use crate::{Lock, RawLock};

/// A value that operations are run on, one at a time.
///
/// The operations of one thread run in the order in which it called for them, `post` and `run` alike.
///
/// An operation must not `run` another on the same value: it would wait for itself. Each type says whether an
/// operation may `post` one.
pub trait Combining<T>: Send + Sync {
    /// Runs `operation` and returns its result.
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R;

    /// Has `operation` run, without waiting for it if the type allows that. It runs in bounded time even if
    /// no thread ever calls again.
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static);

    /// Runs `operation` if no other thread is at the value now.
    ///
    /// # Errors
    ///
    /// Gives the operation back, not run, if it would have to wait.
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F>;

    /// Runs `operation` in the calling thread if possible. This is for operations that are worth less than
    /// others (a poll), and so should not be queued with them.
    fn run_here<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        self.run(operation)
    }
}

impl<L: RawLock, T: Send> Combining<T> for Lock<L, T> {
    #[inline]
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        operation(&mut self.acquire())
    }

    #[inline]
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        posted::run_unattended(operation, &mut *self.acquire());
    }

    #[inline]
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        match self.try_acquire() {
            Some(mut value) => Ok(operation(&mut value)),
            None => Err(operation),
        }
    }
}
