//! The MCS lock under the model checker: exclusion, order, nobody forgotten; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::fault::Fault;
use heddle_sync::mcs::StrictMcs;
use heddle_sync::{Native, WaitPolicy};
use model::adders::{acquire_and_try, add, every_lock_passes, no_phantom_waiters};
use model::{DEADLOCK, RACE, explore, must_fail};

fn sleeping() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy::PARK_AT_ONCE)
}

fn polling() -> StrictMcs<Native> {
    StrictMcs::new(WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE })
}

every_lock_passes!(sleeping, polling, 3);

must_fail!(a_relaxed_grant_is_found, Some(Fault::McsRelaxedGrant), RACE, add(sleeping, 2, 1));

must_fail!(a_missing_ring_is_found, Some(Fault::McsWithoutRing), DEADLOCK, add(sleeping, 2, 1));

must_fail!(a_blind_parking_is_found, Some(Fault::McsBlindPark), DEADLOCK, add(sleeping, 2, 1));

must_fail!(a_forgotten_late_comer_is_found, Some(Fault::McsForgetsLateComer), DEADLOCK, add(sleeping, 2, 1));
