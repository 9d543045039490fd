//! For the model tests: an object that notices who uses it after its end, and tests that demand that a fault is found.

use crate::fault::{self, Fault};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::{model, statics};

/// Sings as long as it lives. loom reports a use that its end is not ordered behind; the canary one that comes later.
#[derive(Debug)]
pub(crate) struct Canary {
    alive: UnsafeCell<bool>,
}

// SAFETY: written at its end alone; that nobody uses it then is what the models are to show.
unsafe impl Sync for Canary {}

impl Canary {
    pub(crate) fn new() -> Canary {
        Canary { alive: UnsafeCell::new(true) }
    }

    /// A use.
    pub(crate) fn sing(&self) {
        // SAFETY: loom reports whoever writes meanwhile.
        self.alive.with(|alive| assert!(unsafe { *alive }, "{DEAD}"));
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.alive.with_mut(|alive| {
            // SAFETY: loom reports whoever reads or writes meanwhile.
            assert!(unsafe { std::mem::replace(&mut *alive, false) }, "{DEAD}");
        });
    }
}

statics! {
    static STEPS: AtomicUsize = AtomicUsize::new(0);
}

/// Between two steps of a thread. loom (0.7) overlooks that a thread which reads a word and then changes it may come before one
/// that only reads it; of these steps it explores every order. Relaxed, so they order nothing.
pub(crate) fn step() {
    STEPS.fetch_add(1, Ordering::Relaxed);
}

/// What a canary says that is used after its end, or ends twice.
const DEAD: &str = "the canary is dead";

/// A test that plants a fault and demands that the model fails, in the way `symptom` says.
macro_rules! must_fail {
    ($name:ident, $fault:expr, $symptom:expr, $body:expr) => {
        #[test]
        fn $name() {
            let path = concat!(module_path!(), "::", stringify!($name));
            crate::canary::must_fail_at(path, $fault, $symptom, $body);
        }
    };
}
pub(crate) use must_fail;

pub(crate) fn must_fail_at(test: &str, fault: Fault, symptom: &str, body: impl Fn() + Sync + Send + 'static) {
    model::in_a_process_that_fails(test, || fault::plant(fault), symptom, body);
}
