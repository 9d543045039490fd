//! States that end while somebody begins or ceases to watch them, under the model checker.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::Ordering;
use heddle_platform::cell::UnsafeCell;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WaitPolicy, WatchedState, Watcher};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;
const PENDING: usize = 1;
const OVER: usize = 2;

/// An operation: its state and what it brings.
struct Operation {
    state: WatchedState,
    outcome: UnsafeCell<u32>,
}

impl Operation {
    fn complete(&self) {
        // SAFETY: the outcome of a pending operation is its completer's.
        self.outcome.with_mut(|outcome| unsafe { *outcome = 1 });
        self.state.end(OVER);
    }

    fn check(&self) {
        assert_eq!(self.state.load(Ordering::Acquire), OVER);
        self.outcome.with(|outcome| {
            // SAFETY: the operation is over.
            assert_eq!(unsafe { *outcome }, 1);
        });
    }
}

fn operations<const N: usize>() -> Arc<[Operation; N]> {
    Arc::new(std::array::from_fn(|_| Operation {
        state: WatchedState::new(PENDING),
        outcome: UnsafeCell::new(0),
    }))
}

/// One thread completes them one after the other.
fn complete_all<const N: usize>(operations: &Arc<[Operation; N]>) -> thread::JoinHandle<()> {
    let operations = Arc::clone(operations);
    thread::spawn(move || operations.iter().for_each(Operation::complete))
}

/// Each is completed by a thread of its own.
fn complete_each<const N: usize>(operations: &Arc<[Operation; N]>) -> Vec<thread::JoinHandle<()>> {
    let complete = |index: usize| {
        let operations = Arc::clone(operations);
        thread::spawn(move || operations[index].complete())
    };
    (0..N).map(complete).collect()
}

fn watch<const N: usize>(operations: &[Operation; N], watcher: &Watcher) {
    for operation in operations {
        // SAFETY: every caller unwatches and leaves before its watcher goes.
        assert_ne!(unsafe { operation.state.watch(PENDING, watcher) }, Watch::Taken);
    }
}

fn leave<const N: usize>(operations: &[Operation; N], watcher: &Watcher) {
    operations.iter().for_each(|operation| operation.state.unwatch(PENDING, watcher));
    watcher.leave(&POLICY);
}

fn one_for_all() {
    let operations = operations::<1>();
    let completer = complete_all(&operations);
    let watcher = Watcher::for_all();
    watch(&operations, &watcher);
    watcher.counter().wait(&POLICY);
    operations[0].check();
    leave(&operations, &watcher);
    completer.join().expect("completer");
}

fn two_for_all() {
    let operations = operations::<2>();
    let completers = complete_each(&operations);
    let watcher = Watcher::for_all();
    watch(&operations, &watcher);
    watcher.counter().wait(&POLICY);
    operations.iter().for_each(Operation::check);
    leave(&operations, &watcher);
    completers.into_iter().for_each(|completer| completer.join().expect("completer"));
}

/// The waiter goes on with the first; it leaves while the second may be just about to end.
fn the_first_of_two(completers: impl Fn(&Arc<[Operation; 2]>) -> Vec<thread::JoinHandle<()>>) {
    let operations = operations::<2>();
    let completers = completers(&operations);
    let watcher = Watcher::for_first();
    // As a program's wait does: what is over already needs no waiting.
    let over = operations.iter().any(|operation| {
        // SAFETY: unwatched below.
        (unsafe { operation.state.watch(PENDING, &watcher) }) == Watch::Over
    });
    if !over {
        watcher.counter().wait(&POLICY);
    }
    assert!(operations.iter().any(|operation| operation.state.load(Ordering::Acquire) == OVER));
    leave(&operations, &watcher);
    completers.into_iter().for_each(|completer| completer.join().expect("completer"));
    operations.iter().for_each(Operation::check);
}

/// The waiter changes its mind, and comes back.
fn in_and_out_again() {
    let operations = operations::<1>();
    let completer = complete_all(&operations);
    let hasty = Watcher::for_all();
    watch(&operations, &hasty);
    leave(&operations, &hasty);
    let watcher = Watcher::for_all();
    watch(&operations, &watcher);
    watcher.counter().wait(&POLICY);
    operations[0].check();
    leave(&operations, &watcher);
    completer.join().expect("completer");
}

/// Two threads watch the same state, against the rules: one is refused and polls.
fn two_watching_threads() {
    let operations = operations::<1>();
    let completer = complete_all(&operations);
    let waits = |operations: &[Operation; 1]| {
        let watcher = Watcher::for_all();
        // SAFETY: unwatched and left below.
        if unsafe { operations[0].state.watch(PENDING, &watcher) } == Watch::Taken {
            while operations[0].state.load(Ordering::Acquire) != OVER {
                thread::yield_now();
            }
        }
        watcher.counter().wait(&POLICY);
        operations[0].check();
        leave(operations, &watcher);
    };
    let others = Arc::clone(&operations);
    let other = thread::spawn(move || waits(&others));
    waits(&operations);
    other.join().expect("the other");
    completer.join().expect("completer");
}

#[test]
fn one_operation() {
    explore(None, one_for_all);
}

#[test]
fn two_operations_of_two_threads() {
    explore(Some(3), two_for_all);
}

#[test]
fn the_first_of_two_by_one_thread() {
    explore(Some(4), || the_first_of_two(|operations| vec![complete_all(operations)]));
}

#[test]
fn the_first_of_two_by_two_threads() {
    explore(Some(2), || the_first_of_two(complete_each));
}

#[test]
fn a_watcher_that_comes_back() {
    explore(Some(5), in_and_out_again);
}

#[test]
fn two_watchers() {
    explore(Some(2), two_watching_threads);
}

with_fault!(an_end_over_a_watcher, one_for_all);
with_fault!(an_end_that_publishes_nothing, one_for_all);
with_fault!(
    /// The first's counter goes below nothing, and the waiter sleeps on.
    two_firsts,
    || the_first_of_two(complete_each)
);
