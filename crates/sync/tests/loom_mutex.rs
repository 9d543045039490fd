//! The mutex under the model checker: exclusion, order, no sleeper forgotten; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::{Lock, Mutex, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::adders::acquire_and_give_up;
use model::clocked::{self, Clocked};
use model::{explore, with_fault};

/// `threads` threads add one, `times` times each.
fn add(policy: WaitPolicy, threads: u32, times: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = Arc::new(Lock::new(Mutex::new(policy), 0));
        let work = move |sum: &Lock<Mutex, u32>| (0..times).for_each(|_| *sum.acquire() += 1);
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || work(&sum))
            })
            .collect();
        work(&sum);
        for other in others {
            other.join().expect("adder");
        }
        assert_eq!(*sum.acquire(), threads * times);
        assert!(!sum.has_waiters());
    }
}

const ONE_YIELD: WaitPolicy = WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE };

/// A thread that finds the lock taken tries once more before it counts as a waiter.
const TRY_FIRST: WaitPolicy = WaitPolicy { first_tries: 1, ..WaitPolicy::PARK_AT_ONCE };

#[test]
fn two_threads_once() {
    explore(None, add(WaitPolicy::PARK_AT_ONCE, 2, 1));
}

/// Twice, so that a thread comes back while the other waits: tenures end at once here, so this takes every
/// path of a reservation.
#[test]
fn two_threads_twice() {
    explore(Some(4), add(WaitPolicy::PARK_AT_ONCE, 2, 2));
}

#[test]
fn two_threads_thrice_with_a_yield() {
    explore(Some(3), add(ONE_YIELD, 2, 3));
}

#[test]
fn two_threads_that_try_first() {
    explore(Some(4), add(TRY_FIRST, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), add(TRY_FIRST, 3, 1));
    explore(Some(3), add(WaitPolicy::PARK_AT_ONCE, 3, 1));
}

#[test]
fn three_threads_twice() {
    explore(Some(2), add(WaitPolicy::PARK_AT_ONCE, 3, 2));
}

#[test]
fn a_try_succeeds_or_leaves_no_trace() {
    explore(None, || {
        let sum = Arc::new(Lock::new(Mutex::new(WaitPolicy::PARK_AT_ONCE), 0));
        let other = Arc::clone(&sum);
        let other = thread::spawn(move || other.try_acquire().map(|mut sum| *sum += 1).is_some());
        *sum.acquire() += 1;
        let tried = other.join().expect("trier");
        assert_eq!(*sum.acquire(), 1 + u32::from(tried));
    });
}

fn timed() -> heddle_sync::mutex::Mutex<Clocked> {
    clocked::restart();
    heddle_sync::mutex::Mutex::new(ONE_YIELD)
}

#[test]
fn deadlines() {
    explore(Some(3), acquire_and_give_up(timed, 2, 1, 2, 3));
    explore(Some(2), acquire_and_give_up(timed, 1, 2, 1, 3));
}

/// One sleeps, one is awake when the lock is released, and gives up.
fn one_gives_up_and_one_sleeps() {
    clocked::restart();
    let sum = Arc::new(Lock::new(timed(), 0));
    let held = sum.acquire();
    let hasty = {
        let sum = Arc::clone(&sum);
        thread::spawn(move || u32::from(sum.acquire_until(0).map(|mut sum| *sum += 1).is_some()))
    };
    let patient = {
        let sum = Arc::clone(&sum);
        thread::spawn(move || *sum.acquire() += 1)
    };
    drop(held);
    let added = hasty.join().expect("hasty");
    patient.join().expect("patient");
    assert_eq!(*sum.acquire(), 1 + added);
}

#[test]
fn a_waiter_that_gives_up_leaves_no_sleeper_behind() {
    explore(Some(3), one_gives_up_and_one_sleeps);
}

with_fault!(a_silent_giving_up_is_found, one_gives_up_and_one_sleeps);

with_fault!(a_relaxed_release_is_found, add(WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_missing_second_check_is_found, add(WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_missing_heavy_fence_is_found, add(WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_missing_light_fence_is_found, add(WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_reservation_nobody_takes_is_found, add(WaitPolicy::PARK_AT_ONCE, 2, 3));
