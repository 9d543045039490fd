//! The ticket lock under the model checker: exclusion, order, nobody forgotten; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::fault::Fault;
use heddle_sync::ticket::StrictTicket;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_give_up, acquire_and_try, add, no_phantom_waiters};
use model::clocked::Clocked;
use model::{DEADLOCK, RACE, explore, must_fail};

fn sleeping() -> StrictTicket<Native> {
    StrictTicket::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictTicket<Native> {
    StrictTicket::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

fn clocked() -> StrictTicket<Clocked> {
    StrictTicket::new(WaitPolicy::PARK_AT_ONCE)
}

#[test]
fn two_threads() {
    explore(None, add(sleeping, 2, 1));
    explore(Some(4), add(sleeping, 2, 2));
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
fn deadlines() {
    explore(Some(3), acquire_and_give_up(clocked, 2, 1, 2, 3));
}

#[test]
fn waiters_reported_are_there() {
    explore(None, no_phantom_waiters(sleeping));
}

must_fail!(a_relaxed_release_is_found, Some(Fault::TicketRelaxedRelease), RACE, add(sleeping, 2, 1));

must_fail!(a_ring_for_another_is_found, Some(Fault::TicketRingsAnother), DEADLOCK, add(sleeping, 2, 1));
