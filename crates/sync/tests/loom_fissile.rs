//! The fissile lock under the model checker, over a given lock and over MCS: exclusion, order, a head that is not
//! forgotten; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::abortable_mcs::AbortableMcs;
use heddle_sync::fault::Fault;
use heddle_sync::mcs::Mcs;
use heddle_sync::{Fissile, Native, WaitPolicy};
use model::adders::{acquire_and_give_up, acquire_and_try, add, no_phantom_waiters};
use model::clocked::{self, Clocked};
use model::{DEADLOCK, Given, RACE, explore, must_fail};

fn given() -> Fissile<Given> {
    Fissile::new(Given::default(), WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> Fissile<Given> {
    Fissile::new(Given::default(), WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

fn mcs() -> Fissile<Mcs<Native>> {
    Fissile::new(Mcs::new(WaitPolicy::PARK_AT_ONCE), WaitPolicy::PARK_AT_ONCE)
}

/// Heads are patient for three looks at the clock.
fn timed() -> Fissile<AbortableMcs<Clocked>> {
    clocked::restart();
    let policy = WaitPolicy { forced_yield_ns: 3, ..WaitPolicy::PARK_AT_ONCE };
    Fissile::new(AbortableMcs::with_patience(policy, None), policy)
}

#[test]
fn two_threads() {
    explore(None, add(given, 2, 1));
    explore(Some(3), add(given, 2, 2));
    explore(Some(2), add(polling, 2, 3));
    explore(Some(3), add(mcs, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), add(given, 3, 1));
    explore(Some(1), add(polling, 3, 2));
    explore(Some(2), add(mcs, 3, 1));
}

#[test]
fn tries() {
    explore(None, acquire_and_try(given, 1));
    explore(Some(2), acquire_and_try(given, 2));
    explore(Some(2), acquire_and_try(mcs, 2));
}

#[test]
fn deadlines() {
    explore(Some(2), acquire_and_give_up(timed, 2, 1, 2, 4));
    explore(Some(2), acquire_and_give_up(timed, 1, 2, 1, 4));
}

#[test]
fn waiters_reported_are_there() {
    explore(Some(4), no_phantom_waiters(given));
    explore(Some(3), no_phantom_waiters(mcs));
}

must_fail!(a_relaxed_release_is_found, Some(Fault::FissileRelaxedRelease), RACE, add(given, 2, 1));

must_fail!(a_missing_second_look_is_found, Some(Fault::FissileWithoutSecondLook), DEADLOCK, add(given, 2, 1));

must_fail!(
    a_reservation_nobody_takes_is_found,
    Some(Fault::FissileReservationUnknown),
    DEADLOCK,
    add(given, 2, 2)
);
