//! The biased lock under the model checker: exclusion and order while the bias is given, used, revoked and
//! given to another; no revoker sleeps for ever; and each fault is found.
#![cfg(loom)]

mod bias;
#[path = "../../sync/tests/model/mod.rs"]
mod model;

use bias::{Bias, Sum, Visited, owner_and_others, owner_and_trier, timed};
use heddle_locks::Biased;
use heddle_sync::{Mutex, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{Given, explore, with_fault};

/// A lock that is biased to the first thread that acquires it.
fn given() -> Biased<Given> {
    Bias::new(Given::default(), 1)
}

fn over_mutex() -> Biased<Mutex> {
    Bias::new(Mutex::new(WaitPolicy::PARK_AT_ONCE), 1)
}

#[test]
fn one_revocation() {
    explore(None, owner_and_others(given, 1, &[(1, 1)]));
}

#[test]
fn the_owner_comes_back() {
    explore(None, owner_and_others(given, 2, &[(1, 1)]));
}

/// The other needs two acquisitions in a row to become owner; the first owner's late store must not hit its
/// flag.
#[test]
fn the_bias_moves_to_the_other() {
    explore(Some(5), owner_and_others(given, 2, &[(1, 3)]));
}

#[test]
fn three_threads() {
    explore(Some(3), owner_and_others(given, 1, &[(1, 1), (2, 1)]));
}

#[test]
fn three_threads_and_two_moves() {
    explore(Some(2), owner_and_others(given, 2, &[(1, 3), (2, 2)]));
}

#[test]
fn over_the_mutex() {
    explore(Some(4), owner_and_others(over_mutex, 2, &[(1, 1)]));
}

#[test]
fn over_the_mutex_with_three_threads() {
    explore(Some(2), owner_and_others(over_mutex, 1, &[(1, 3), (2, 1)]));
}

#[test]
fn tries() {
    explore(None, owner_and_trier(given, 1, 1, 1));
    explore(Some(3), owner_and_trier(given, 1, 2, 2));
    explore(Some(2), owner_and_trier(over_mutex, 1, 1, 2));
}

/// The first visits find a bias that is young.
#[test]
fn visits() {
    explore(Some(3), owner_and_trier(|| Visited(timed::<Biased<_>>(1)), 1, 1, 4));
    explore(Some(2), owner_and_trier(|| Visited(timed::<Biased<_>>(1)), 1, 2, 5));
}

#[test]
fn a_visitor_leaves_a_young_bias_alone_and_interrupts_no_streak() {
    explore(None, bias::a_visitor_is_considerate::<Biased<_>>(3));
}

#[test]
fn a_bias_that_was_worth_it_comes_back_sooner() {
    explore(None, bias::the_streak_adapts::<Biased<_>>([3, 5, 3]));
}

#[test]
fn a_try_and_an_acquisition() {
    explore(Some(3), bias::owner_trier_and_another(given, 2));
}

#[test]
fn a_thread_that_ended_keeps_no_other_out() {
    explore(None, || {
        let sum = Arc::new(Sum::new(given(), 0));
        let owner = Arc::clone(&sum);
        thread::spawn(move || bias::add(&owner, 2)).join().expect("owner");
        bias::add(&sum, 2);
        assert_eq!(*sum.acquire(), 4);
    });
}

#[test]
fn a_try_leaves_no_waiter_behind() {
    explore(None, bias::a_try_leaves_no_waiter(given));
}

#[test]
fn an_owner_does_not_enter_twice() {
    explore(None, bias::a_holder_tries_again(given));
    // Inside through L, since no thread comes often enough.
    let over_l = || Biased::<Given>::new(Given::default(), WaitPolicy::PARK_AT_ONCE);
    explore(None, bias::a_holder_tries_again(over_l));
}

with_fault!(an_owner_that_enters_twice_is_found, bias::a_holder_tries_again(given));

with_fault!(a_missing_second_check_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_missing_heavy_fence_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_relaxed_release_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_shared_seat_is_found, owner_and_others(given, 1, &[(1, 3), (2, 1)]));

with_fault!(a_silent_release_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_silent_retreat_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(an_impatient_revoker_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_try_that_forgets_the_owner_is_found, owner_and_trier(given, 1, 1, 1));
