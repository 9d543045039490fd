//! The MCS lock under the model checker: exclusion, order, nobody forgotten; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::fault::Fault;
use heddle_sync::mcs::StrictMcs;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_try, add, no_phantom_waiters};
use model::{DEADLOCK, RACE, explore, must_fail};

fn sleeping() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

#[test]
fn two_threads() {
    explore(None, add(sleeping, 2, 1));
    explore(Some(3), add(sleeping, 2, 2));
    explore(Some(3), add(polling, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), add(sleeping, 3, 1));
    explore(Some(2), add(polling, 3, 1));
}

#[test]
fn tries() {
    explore(None, acquire_and_try(sleeping, 1));
    explore(Some(2), acquire_and_try(sleeping, 2));
}

#[test]
fn waiters_reported_are_there() {
    explore(Some(4), no_phantom_waiters(sleeping));
}

must_fail!(a_relaxed_grant_is_found, Some(Fault::McsRelaxedGrant), RACE, add(sleeping, 2, 1));

must_fail!(a_missing_ring_is_found, Some(Fault::McsWithoutRing), DEADLOCK, add(sleeping, 2, 1));

must_fail!(a_blind_parking_is_found, Some(Fault::McsBlindPark), DEADLOCK, add(sleeping, 2, 1));

must_fail!(a_forgotten_late_comer_is_found, Some(Fault::McsForgetsLateComer), DEADLOCK, add(sleeping, 2, 1));
