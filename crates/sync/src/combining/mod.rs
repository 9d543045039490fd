//! Who runs an operation on a shared value: the caller, whoever has the lock at the moment, or a thread for
//! it.
//!
//! | type | who runs an operation | `run` | `post` |
//! |---|---|---|---|
//! | [`Lock`] | the caller, under the lock | waits for the lock | the same |
//! | [`DsmSynch`] | the caller, or whoever was before it in the queue | waits for the result | the same |
//! | [`LockQueue`] | the caller if the lock is free, else the lock's holder | waits for the result | leaves at once |
//! | [`Offload`] | one thread, which does nothing else | waits for the result | leaves at once |
//!
//! All of them are [`Combining`], so a user is written once. Combining pays when the value's cache lines
//! would otherwise travel with every operation: the combiner keeps them and runs a batch.
//!
//! Beside them stands [`Delegated`]: as [`LockQueue`], but a post never waits, whatever happens to the
//! others; what nobody has run yet is then left behind, and its user sees to that.
//!
//! An operation is a closure. While [`run`](Combining::run) waits it lies on the caller's stack, so it may
//! borrow from there and nothing is allocated. A posted operation tells of its completion itself, if anybody
//! wants to know.
//!
//! **Panics.** One of an operation of `run` goes on in the thread that called `run`, whoever ran it. A posted
//! operation that panics is over; the panic hook has reported it. No other operation is lost, the value is as
//! the operation left it, and nothing is poisoned (as `parking_lot` does it, and unlike `std`).

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
/// An operation must not `run` another on the same value: it would wait for itself. Whether it may `post` one
/// is said at each type.
pub trait Combining<T>: Send + Sync {
    /// Runs `operation` and returns its result.
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R;

    /// Has `operation` run, without waiting for it where the type allows that. It runs in bounded time even
    /// if nobody ever calls again.
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static);

    /// Runs `operation` if nobody else is at the value now.
    ///
    /// # Errors
    ///
    /// Gives the operation back, not run, if it would have to wait.
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F>;

    /// As [`run`](Self::run), by the calling thread itself where that can be: for operations that are worth
    /// less than others' (a poll), and so should not be queued with them.
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
