//! Running a model to its end, and demanding that a model with a fault fails.
//!
//! **How far the models are explored** is the first argument of every [`explore`] in the `loom_*.rs` beside this folder:
//! `None` is every execution, `Some(n)` every execution with at most n preemptions. The short form, which `make test`
//! runs:
//!
//! | model | explored |
//! |---|---|
//! | two threads that do one thing each | all, where that takes seconds; else 3 or 4 preemptions |
//! | two threads that do several things | 2 to 5 |
//! | three threads | 2; 1 or 3 where that is still seconds, or enough |
//! | a fault that has to be found | 3, or until it is found |
//!
//! `make verify` explores the same with 5 preemptions wherever the short form has a bound (`LOOM_MAX_PREEMPTIONS`), each
//! model for at most five minutes (`LOOM_MAX_DURATION`, in seconds). Each model prints how many executions it had, its
//! bound, and whether the time ended it: `ci/loom.sh short --nocapture`.

// Every test file includes this one and uses its share of it.
#![allow(dead_code)]

pub(crate) mod adders;
pub(crate) mod clocked;

use heddle_sync::fault::{self, Fault};
use heddle_sync::{Native, RawLock};
use loom::sync::{Condvar, Mutex};
use std::env;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Explores all executions, or those with at most `preemptions` preemptions; `LOOM_MAX_PREEMPTIONS` overrides a bound.
pub(crate) fn explore(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = preemptions.map(|bound| builder.preemption_bound.unwrap_or(bound));
    let limit = builder.max_duration;
    let since = Instant::now();
    let executions = Arc::new(std::sync::Mutex::new(0_u64));
    let count = Arc::clone(&executions);
    builder.check(move || {
        *count.lock().expect("not poisoned") += 1;
        body();
    });
    let executions = *executions.lock().expect("not poisoned");
    let end =
        if limit.is_some_and(|limit| since.elapsed() >= limit) { "; NOT ALL, the time was up" } else { "" };
    println!("{executions} executions, preemptions bounded by {:?}{end}", builder.preemption_bound);
}

/// A test that leaves one line of an algorithm out and demands that the model fails, in the way `symptom` says.
///
/// loom ends a process whose blocked threads it has to unwind, so the faulty model runs in a process of its own: this
/// test once more.
macro_rules! must_fail {
    ($(#[$doc:meta])* $name:ident, $fault:expr, $symptom:expr, $body:expr) => {
        $(#[$doc])*
        #[test]
        fn $name() {
            model::in_a_process_that_fails(stringify!($name), $fault, $symptom, $body);
        }
    };
}
pub(crate) use must_fail;

const FAULTY: &str = "HEDDLE_TEST_FAULTY_MODEL";

pub(crate) fn in_a_process_that_fails(
    test: &str,
    fault: Option<Fault>,
    symptom: &str,
    body: impl Fn() + Sync + Send + 'static,
) {
    if env::var_os(FAULTY).is_some() {
        fault::inject(fault);
        explore(Some(3), body);
        return;
    }
    let output = Command::new(env::current_exe().expect("this test's own path"))
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(FAULTY, "1")
        .output()
        .expect("this test can be run again");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the model checker did not notice {fault:?}");
    assert!(said.contains(symptom), "{fault:?} was noticed, but as:\n{said}");
}

/// What loom says when all threads sleep.
pub(crate) const DEADLOCK: &str = "deadlock";
/// What loom says of two accesses to a cell with no order between them.
pub(crate) const RACE: &str = "Causality violation";

/// A lock from loom's own parts: correct by construction and with few steps, so that models of what lies above it can
/// be explored further.
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
