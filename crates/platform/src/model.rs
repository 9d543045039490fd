//! Running a model to its end, and demanding that a model which breaks a contract fails. Only under `loom`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::env;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What loom says when all threads sleep.
pub const DEADLOCK: &str = "deadlock";
/// What loom says of two accesses to a cell with no order between them.
pub const RACE: &str = "Causality violation";

/// Explores all executions, or those with at most `preemptions` preemptions; `LOOM_MAX_PREEMPTIONS` overrides
/// a bound, and `LOOM_MAX_DURATION` (seconds) ends it. Prints how many executions there were.
///
/// # Panics
/// As the model does in any execution.
pub fn explore(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = preemptions.map(|bound| builder.preemption_bound.unwrap_or(bound));
    let limit = builder.max_duration;
    let since = Instant::now();
    let executions = Arc::new(Mutex::new(0_u64));
    let count = Arc::clone(&executions);
    builder.check(move || {
        *count.lock().expect("not poisoned") += 1;
        KEPT.with(|kept| drop(kept.take()));
        body();
    });
    let executions = *executions.lock().expect("not poisoned");
    let end =
        if limit.is_some_and(|limit| since.elapsed() >= limit) { "; NOT ALL, the time was up" } else { "" };
    println!("{executions} executions, preemptions bounded by {:?}{end}", builder.preemption_bound);
}

const FAULTY: &str = "HEDDLE_TEST_FAULTY_MODEL";

/// A model that fails only with a fault of the crate's `tests/faults` in the source: `ci/faults.py`
/// plants the fault and runs it.
#[macro_export]
macro_rules! with_fault {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            $crate::model::explore(Some(3), $body);
        }
    };
}

/// Runs a model, and demands that it fails in the way `symptom` says. `test` is the path of the calling test,
/// crate and all.
///
/// loom ends a process whose blocked threads it has to unwind, so the faulty model runs in a process of its
/// own, which runs only the calling test.
///
/// # Panics
/// If the model does not fail, or fails in another way.
pub fn in_a_process_that_fails(test: &str, symptom: &str, body: impl Fn() + Sync + Send + 'static) {
    if env::var_os(FAULTY).is_some() {
        explore(Some(3), body);
        return;
    }
    let (_, name) = test.split_once("::").expect("a crate and a test");
    let output = Command::new(env::current_exe().expect("this test's own path"))
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(FAULTY, "1")
        // This model is explored until it fails, whatever bounds the others have.
        .env_remove("LOOM_MAX_PREEMPTIONS")
        .env_remove("LOOM_MAX_DURATION")
        .output()
        .expect("this test can be run again");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the model checker did not notice it");
    assert!(said.contains(symptom), "it was noticed, but as:\n{said}");
}

// All threads of a model run on the test's own thread.
std::thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps something until the next execution begins.
pub(crate) fn keep<T: ?Sized + 'static>(boxed: Box<T>) {
    KEPT.with(|kept| kept.borrow_mut().push(Box::new(boxed)));
}

loom::thread_local! {
    static CORE: Cell<Option<usize>> = Cell::new(None);
}

/// From now on the calling thread of the model runs on that core, below `loom::MAX_THREADS`. A thread that
/// was put on none has one for itself, of its own number.
pub fn move_to_core(core: usize) {
    CORE.with(|here| here.set(Some(core)));
}

/// The core that the calling thread was put on.
pub(crate) fn core() -> Option<usize> {
    // A thread that ends loses the slot before its destructors run.
    CORE.try_with(Cell::get).ok().flatten()
}
