//! Running a model to its end. Models that have to fail are run by `ci/faults.py`, with a fault in the
//! source.
//!
//! **How far the models are explored** is the first argument of every [`explore`] in the `loom_*.rs` beside
//! this folder, in `crates/locks/tests` and in `crates/combining/tests`, which use it too: `None` is every
//! execution, `Some(n)` every execution with at most n preemptions. The short form, of which `make test` runs
//! a part:
//!
//! | model | explored |
//! |---|---|
//! | two threads that do one thing each | all, where that takes seconds; else 3 or 4 preemptions |
//! | two threads that do several things | 2 to 5 |
//! | three threads | 2; 1 or 3 where that is still seconds, or enough |
//! | a fault that has to be found | 3, or until it is found |
//!
//! `make verify` goes on from there: each model with one preemption more, and one more, up to 5, until it has
//! had ten seconds (`HEDDLE_LOOM_SECONDS`). What it prints of each model, how many executions with which
//! bound, and whether the time ended the last one, `ci/loom.sh short --nocapture` prints, too.

// Every test file includes this one and uses its share of it.
#![allow(dead_code, unused_imports, unused_macros)]

pub(crate) mod adders;
pub(crate) mod clocked;

pub(crate) use heddle_platform::model::{DEADLOCK, RACE, explore};
pub(crate) use heddle_platform::with_fault;
use heddle_sync::{Native, RawLock};
use loom::sync::{Condvar, Mutex};

/// A model that breaks the contract of what it uses: it must fail, in the way `symptom` says.
macro_rules! must_fail {
    ($(#[$doc:meta])* $name:ident, $symptom:expr, $body:expr) => {
        $(#[$doc])*
        #[test]
        fn $name() {
            model::must_fail_at(concat!(module_path!(), "::", stringify!($name)), $symptom, $body);
        }
    };
}
pub(crate) use must_fail;

pub(crate) fn must_fail_at(test: &str, symptom: &str, body: impl Fn() + Sync + Send + 'static) {
    heddle_platform::model::in_a_process_that_fails(test, symptom, body);
}

/// A lock from loom's parts: correct by construction and with few steps, so that models of locks above it
/// can be explored further.
#[derive(Debug)]
pub(crate) struct Given {
    held: Mutex<bool>,
    freed: Condvar,
}

impl Default for Given {
    fn default() -> Self {
        Self { held: Mutex::new(false), freed: Condvar::new() }
    }
}

// SAFETY: `held` is set by one thread at a time under loom's mutex, which also orders.
unsafe impl RawLock for Given {
    type Platform = Native;
    type Token = ();
    const TRY_IS_EXACT: bool = true;

    fn acquire(&self) {
        let mut held = self.held.lock().expect("not poisoned");
        while *held {
            held = self.freed.wait(held).expect("not poisoned");
        }
        *held = true;
    }

    fn try_acquire(&self) -> Option<()> {
        let mut held = self.held.lock().expect("not poisoned");
        (!std::mem::replace(&mut *held, true)).then_some(())
    }

    unsafe fn release(&self, (): ()) {
        *self.held.lock().expect("not poisoned") = false;
        self.freed.notify_one();
    }

    fn has_waiters(&self) -> bool {
        false
    }
}
