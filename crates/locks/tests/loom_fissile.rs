//! Queue locks behind a word, under the model checker: over a given lock, over MCS, and with
//! deadlines over abortable MCS: exclusion, order, a head that is not forgotten, turns that no thread
//! takes; and each fault is found.
//!
//! On the model's own platform the clock stands still, so every turn is over at its first release; on
//! `Clocked` turns last some readings of the clock.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::Fissile;
use heddle_locks::abortable_mcs::AbortableMcs;
use heddle_locks::mcs::Mcs;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_give_up, acquire_and_try, add, no_phantom_waiters};
use model::clocked::{self, Clocked};
use model::{Given, explore, with_fault};

const PARK: WaitPolicy = WaitPolicy::PARK_AT_ONCE;
const ONE_YIELD: WaitPolicy = WaitPolicy { yields: 1, ..PARK };

fn given() -> Fissile<Given> {
    Fissile::over(Given::default(), PARK)
}

fn polling() -> Fissile<Given> {
    Fissile::over(Given::default(), ONE_YIELD)
}

/// A thread that finds the lock taken tries once more before it queues up.
fn trying() -> Fissile<Given> {
    Fissile::over(Given::default(), WaitPolicy { first_tries: 1, ..PARK })
}

fn awake() -> Fissile<Given> {
    Fissile::over(Given::default(), WaitPolicy { park: false, ..PARK })
}

fn mcs() -> Mcs<Native> {
    Mcs::new(PARK)
}

fn strict() -> Mcs<Native> {
    Mcs::new(WaitPolicy { forced_yield_ns: 0, ..PARK })
}

/// Turns last for three readings of the clock.
fn timed() -> AbortableMcs<Clocked> {
    clocked::restart();
    AbortableMcs::with_patience(WaitPolicy { forced_yield_ns: 3, ..PARK }, None)
}

/// The same as [`timed`], with a turn that is short enough for a reservation to be taken back soon.
fn timed_short() -> AbortableMcs<Clocked> {
    clocked::restart();
    AbortableMcs::with_patience(WaitPolicy { forced_yield_ns: 1, ..PARK }, None)
}

#[test]
fn two_threads() {
    explore(None, add(given, 2, 1));
    explore(Some(3), add(given, 2, 2));
    explore(Some(2), add(polling, 2, 3));
    explore(Some(3), add(trying, 2, 2));
    explore(Some(2), add(awake, 2, 2));
    explore(Some(3), add(mcs, 2, 2));
    explore(Some(3), add(strict, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), add(given, 3, 1));
    explore(Some(1), add(polling, 3, 2));
    explore(Some(2), add(trying, 3, 1));
    explore(Some(2), add(mcs, 3, 1));
    explore(Some(1), add(mcs, 3, 2));
}

#[test]
fn tries() {
    explore(None, acquire_and_try(given, 1));
    explore(Some(2), acquire_and_try(given, 2));
    explore(Some(2), acquire_and_try(mcs, 2));
}

#[test]
fn turns_by_the_clock() {
    explore(Some(2), add(timed, 2, 2));
    explore(Some(2), add(timed_short, 2, 3));
}

#[test]
fn deadlines() {
    explore(Some(2), acquire_and_give_up(timed, 2, 1, 2, 4));
    explore(Some(2), acquire_and_give_up(timed, 1, 2, 1, 4));
    explore(Some(2), acquire_and_give_up(timed_short, 2, 1, 2, 6));
}

#[test]
fn waiters_reported_are_there() {
    explore(Some(4), no_phantom_waiters(given));
    explore(Some(3), no_phantom_waiters(mcs));
}

with_fault!(a_relaxed_release_is_found, add(given, 2, 1));

with_fault!(a_missing_second_check_is_found, add(given, 2, 1));

with_fault!(a_missing_heavy_is_found, add(given, 2, 1));

with_fault!(a_missing_light_is_found, add(given, 2, 1));

with_fault!(a_queue_that_is_not_handed_on_is_found, add(given, 3, 1));

with_fault!(a_reservation_nobody_takes_is_found, add(given, 2, 2));
