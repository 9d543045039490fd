//! Running a model to its end, and demanding that a model which breaks a contract fails. Only under `loom`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::env;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What loom says when all threads sleep.
pub const DEADLOCK: &str = "deadlock";
/// What loom says of two accesses to a cell with no order between them.
pub const RACE: &str = "Causality violation";

/// How many preemptions a long exploration ends with.
const FURTHEST: usize = 5;

/// Explores all executions, or those with at most `preemptions` preemptions. With `HEDDLE_LOOM_SECONDS` goes
/// on from there with one more, and one more, up to five, while the model has had less than so many seconds.
/// Prints how many executions each bound had, and whether the time ended the last one.
///
/// # Panics
/// As the model does in any execution.
pub fn explore(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let body = Arc::new(body);
    let since = Instant::now();
    let mut is_explored = explore_within(preemptions, None, &body);
    let (Some(own), Some(seconds)) = (preemptions, seconds()) else { return };
    for bound in own + 1..=FURTHEST {
        let left = seconds.saturating_sub(since.elapsed());
        if !is_explored || left.is_zero() {
            return;
        }
        is_explored = explore_within(Some(bound), Some(left), &body);
    }
}

/// Returns true if the time was enough: `limit`, or else loom's `LOOM_MAX_DURATION`.
fn explore_within<F>(preemptions: Option<usize>, limit: Option<Duration>, body: &Arc<F>) -> bool
where
    F: Fn() + Sync + Send + 'static,
{
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = preemptions;
    builder.max_duration = limit.or(builder.max_duration);
    let limit = builder.max_duration;
    let since = Instant::now();
    let executions = Arc::new(Mutex::new(0_u64));
    let (count, body) = (Arc::clone(&executions), Arc::clone(body));
    builder.check(move || {
        *count.lock().expect("not poisoned") += 1;
        KEPT.with(|kept| drop(kept.take()));
        body();
    });
    let executions = *executions.lock().expect("not poisoned");
    let is_explored = limit.is_none_or(|limit| since.elapsed() < limit);
    let end = if is_explored { "" } else { "; NOT ALL, the time was up" };
    println!("{executions} executions, preemptions bounded by {preemptions:?}{end}");
    is_explored
}

/// How long a model goes on beyond its own bound.
fn seconds() -> Option<Duration> {
    let seconds = env::var("HEDDLE_LOOM_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("HEDDLE_LOOM_SECONDS is a whole number")))
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
        .env_remove("HEDDLE_LOOM_SECONDS")
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
