//! An [`Offload`] with a dedicated thread, which ends with it.

use crate::Combining;
use crate::offload::Offload;
use heddle_sync::WaitPolicy;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A value that a dedicated thread serves. Dropping it waits until all posted operations have run.
///
/// ```
/// use heddle_combining::{Combining, OffloadThread};
/// use heddle_sync::WaitPolicy;
///
/// let total = OffloadThread::start(0, "adder", WaitPolicy::DEFAULT)?;
/// total.post(|total| *total += 40);
/// assert_eq!(total.run(|total| *total + 2), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OffloadThread<T: Send + 'static> {
    shared: Arc<Offload<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> OffloadThread<T> {
    /// Starts a thread with that name for `value`. All threads wait by `policy`.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn start(value: T, name: &str, policy: WaitPolicy) -> io::Result<Self> {
        Self::start_with_idle_work(value, name, policy, |_| false)
    }

    /// Starts a thread with work for the time when nothing is posted: see [`Offload::serve`].
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn start_with_idle_work(
        value: T,
        name: &str,
        policy: WaitPolicy,
        idle: impl FnMut(&mut T) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Offload::new(value, policy));
        let served = Arc::clone(&shared);
        let serve = move || {
            served.serve(idle);
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(serve)?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl<T: Send + 'static> Deref for OffloadThread<T> {
    type Target = Offload<T>;

    #[inline(always)]
    fn deref(&self) -> &Offload<T> {
        &self.shared
    }
}

impl<T: Send + 'static> Combining<T> for OffloadThread<T> {
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        self.shared.run(operation)
    }

    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        self.shared.post(operation);
    }

    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        self.shared.try_run(operation)
    }
}

impl<T: Send + 'static> Drop for OffloadThread<T> {
    fn drop(&mut self) {
        self.shared.close();
        let Some(thread) = self.thread.take() else { return };
        // An operation may own the last handle; then this is the thread itself, which ends when
        // it has served everything.
        if thread.thread().id() != thread::current().id() {
            // Only the idle work could have panicked, which the panic hook has reported.
            let _ = thread.join();
        }
    }
}
