//! The calls that every way to run operations has, and the simplest one: the caller runs its operation, under
//! a lock.

use crate::posted::run_unattended;
use heddle_sync::{Lock, RawLock};

/// A value that operations are run on, one at a time.
///
/// The operations of one thread run in the order in which it called for them, `post` and `run` alike.
///
/// An operation must not `run` another on the same value: it would wait for itself. Each type says whether an
/// operation may `post` one.
///
/// # Examples
///
/// The same code under each way. The closure may borrow from its caller, which waits for the result:
///
/// ```
/// use heddle_combining::{Combining, DsmSynch, LockQueueMutex, OffloadThread};
/// use heddle_sync::{Lock, Mutex, WaitPolicy};
///
/// fn count(words: &impl Combining<Vec<String>>) -> usize {
///     std::thread::scope(|scope| {
///         for word in ["warp", "weft"] {
///             scope.spawn(move || words.run(|words| words.push(word.to_owned())));
///         }
///     });
///     words.post(|words| words.push("heddle".to_owned()));
///     words.run(|words| words.len())
/// }
///
/// let offload = OffloadThread::start(Vec::new(), "words", WaitPolicy::DEFAULT)?;
/// assert_eq!(count(&DsmSynch::default()), 3);
/// assert_eq!(count(&LockQueueMutex::default()), 3);
/// assert_eq!(count(&offload), 3);
/// assert_eq!(count(&Lock::<Mutex, _>::default()), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
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
        run_unattended(operation, &mut *self.acquire());
    }

    #[inline]
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        match self.try_acquire() {
            Some(mut value) => Ok(operation(&mut value)),
            None => Err(operation),
        }
    }
}
