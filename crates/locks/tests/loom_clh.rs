//! The CLH lock under the model checker: exclusion, order, nodes that change hands, waiters that give up; and
//! each fault is found.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::clh::StrictClh;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_give_up, acquire_and_try, add, every_lock_passes, no_phantom_waiters};
use model::clocked::{self, Clocked};
use model::{explore, with_fault};

fn sleeping() -> StrictClh<Native> {
    StrictClh::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictClh<Native> {
    StrictClh::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

fn clocked() -> StrictClh<Clocked> {
    StrictClh::new(WaitPolicy::PARK_AT_ONCE)
}

every_lock_passes!(sleeping, polling, 4);

#[test]
fn deadlines() {
    explore(Some(4), acquire_and_give_up(clocked, 2, 1, 2, 2));
    explore(Some(2), acquire_and_give_up(clocked, 1, 2, 1, 2));
}

/// A thread with time waits behind a thread without.
fn one_waits_behind_one_that_gives_up() {
    use heddle_sync::Lock;
    use loom::sync::Arc;
    use loom::thread;

    clocked::restart();
    let sum = Arc::new(Lock::new(clocked(), 0));
    let held = sum.acquire();
    let hasty = {
        let sum = Arc::clone(&sum);
        thread::spawn(move || u32::from(sum.acquire_until(0).map(|mut sum| *sum += 1).is_some()))
    };
    let patient = {
        let sum = Arc::clone(&sum);
        thread::spawn(move || *sum.acquire() += 1)
    };
    let added = hasty.join().expect("hasty");
    drop(held);
    patient.join().expect("patient");
    assert_eq!((added, *sum.acquire()), (0, 1));
}

#[test]
fn a_waiter_that_gives_up_is_passed_over() {
    explore(Some(3), one_waits_behind_one_that_gives_up);
}

with_fault!(a_relaxed_release_is_found, add(sleeping, 2, 1));

with_fault!(a_missing_ring_is_found, add(sleeping, 2, 1));
