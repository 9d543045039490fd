//! The ticket lock under the model checker: exclusion, order, no thread forgotten; and each fault is found.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::ticket::StrictTicket;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_give_up, acquire_and_try, add, every_lock_passes, no_phantom_waiters};
use model::clocked::Clocked;
use model::{explore, with_fault};

fn sleeping() -> StrictTicket<Native> {
    StrictTicket::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictTicket<Native> {
    StrictTicket::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

fn clocked() -> StrictTicket<Clocked> {
    StrictTicket::new(WaitPolicy::PARK_AT_ONCE)
}

every_lock_passes!(sleeping, polling, 4);

#[test]
fn deadlines() {
    explore(Some(3), acquire_and_give_up(clocked, 2, 1, 2, 3));
}

with_fault!(a_relaxed_release_is_found, add(sleeping, 2, 1));

with_fault!(a_ring_for_another_is_found, add(sleeping, 2, 1));
