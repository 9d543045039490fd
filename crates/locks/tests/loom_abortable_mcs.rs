//! The abortable MCS lock under the model checker: exclusion, order, nodes that end once, waiters that give
//! up and that are passed over; and each fault is found.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::abortable_mcs::StrictAbortableMcs;
use heddle_sync::WaitPolicy;
use model::adders::{acquire_and_give_up, acquire_and_try, add, no_phantom_waiters};
use model::clocked::{self, Clocked};
use model::{explore, with_fault};

/// Passes over no waiter.
fn patient() -> StrictAbortableMcs<Clocked> {
    clocked::restart();
    StrictAbortableMcs::with_patience(WaitPolicy::PARK_AT_ONCE, None)
}

/// Passes over every awake waiter that has not just polled.
fn impatient() -> StrictAbortableMcs<Clocked> {
    clocked::restart();
    StrictAbortableMcs::with_patience(WaitPolicy::PARK_AT_ONCE, Some(0))
}

fn impatient_with_pollers() -> StrictAbortableMcs<Clocked> {
    clocked::restart();
    StrictAbortableMcs::with_patience(WaitPolicy { yields: 2, ..WaitPolicy::PARK_AT_ONCE }, Some(1))
}

#[test]
fn two_threads() {
    explore(Some(4), add(patient, 2, 1));
    explore(Some(2), add(patient, 2, 2));
    explore(Some(2), add(impatient, 2, 2));
    explore(Some(2), add(impatient_with_pollers, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), add(patient, 3, 1));
    explore(Some(2), add(impatient, 3, 1));
    explore(Some(1), add(impatient_with_pollers, 3, 1));
}

#[test]
fn tries() {
    explore(Some(4), acquire_and_try(patient, 1));
    explore(Some(2), acquire_and_try(impatient, 2));
}

#[test]
fn deadlines() {
    explore(Some(2), acquire_and_give_up(patient, 2, 1, 2, 3));
    explore(Some(2), acquire_and_give_up(impatient, 2, 1, 2, 3));
    explore(Some(1), acquire_and_give_up(patient, 1, 2, 1, 3));
    explore(Some(1), acquire_and_give_up(impatient, 1, 2, 1, 4));
}

#[test]
fn waiters_reported_are_there() {
    explore(Some(3), no_phantom_waiters(patient));
}

with_fault!(a_relaxed_grant_is_found, add(patient, 2, 1));

with_fault!(a_blind_giving_up_is_found, acquire_and_give_up(patient, 1, 1, 1, 3));

with_fault!(a_silent_passing_over_is_found, add(impatient, 2, 1));
