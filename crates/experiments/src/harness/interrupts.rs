//! Ctrl-C and SIGTERM: a run ends after the turn that it is at, and keeps what it has measured.

use std::sync::Arc;

use heddle_platform::atomic::{AtomicBool, Ordering};

use crate::error::BenchError;

/// Knows whether the user interrupted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts(Arc<AtomicBool>);

impl Interrupts {
    /// Takes over Ctrl-C, once in a process. `wake` is called at each interruption, after it can be seen by
    /// [`Interrupts::came`].
    ///
    /// # Errors
    ///
    /// If the handler cannot be set.
    pub(crate) fn take_over(wake: impl Fn() + Send + 'static) -> Result<Self, BenchError> {
        let interrupts = Self::default();
        let to_handler = interrupts.clone();
        ctrlc::set_handler(move || {
            to_handler.interrupt();
            wake();
        })?;
        Ok(interrupts)
    }

    /// Notes an interruption.
    pub(crate) fn interrupt(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns true once the user has interrupted.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
