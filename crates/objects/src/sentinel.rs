//! For the model tests: an object that notices a use after its end, and steps whose order the models explore.

use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::statics;

/// An object that must be alive when it is checked. loom reports a use that is not ordered before its end;
/// the sentinel itself reports one that comes later.
#[derive(Debug)]
pub(crate) struct Sentinel {
    alive: UnsafeCell<bool>,
}

// SAFETY: only its end writes it; the models show that no thread uses it then.
unsafe impl Sync for Sentinel {}

impl Sentinel {
    pub(crate) fn new() -> Sentinel {
        Sentinel { alive: UnsafeCell::new(true) }
    }

    /// A use.
    pub(crate) fn check(&self) {
        // SAFETY: loom reports a write at the same time.
        self.alive.with(|alive| assert!(unsafe { *alive }, "{DEAD}"));
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.alive.with_mut(|alive| {
            // SAFETY: loom reports an access at the same time.
            assert!(unsafe { std::mem::replace(&mut *alive, false) }, "{DEAD}");
        });
    }
}

statics! {
    static STEPS: AtomicUsize = AtomicUsize::new(0);
}

/// Between two steps of a thread. loom (0.7) overlooks that a thread which reads a word and then changes it
/// may come before one that only reads it; of these steps it explores every order. Relaxed, so they order
/// nothing.
pub(crate) fn step() {
    STEPS.fetch_add(1, Ordering::Relaxed);
}

/// The message for a use after the end, or a second end.
const DEAD: &str = "the sentinel is dead";
