//! The MCS lock under the model checker: exclusion, order, no thread forgotten; and each fault is found.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::mcs::StrictMcs;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_try, add, every_lock_passes, no_phantom_waiters};
use model::{explore, with_fault};

fn sleeping() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

every_lock_passes!(sleeping, polling, 3);

with_fault!(a_relaxed_grant_is_found, add(sleeping, 2, 1));

with_fault!(a_missing_ring_is_found, add(sleeping, 2, 1));

with_fault!(a_blind_parking_is_found, add(sleeping, 2, 1));

with_fault!(a_forgotten_late_comer_is_found, add(sleeping, 2, 1));
