//! The lock biased to a core under the model checker: exclusion and order while threads of one core share the
//! bias, while it is given and revoked, and while threads move from core to core inside; no revoker sleeps
//! for ever; and each fault is found. `heddle_platform::core_claim` says how a core is modelled.
#![cfg(loom)]

mod bias;
#[path = "../../sync/tests/model/mod.rs"]
mod model;

use bias::{Bias, Sum, Visited, add, owner_and_others, owner_and_trier, passes_by_bias, timed};
use heddle_locks::CoreBiased;
use heddle_platform::model::move_to_core;
use heddle_sync::{Mutex, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{Given, explore, with_fault};

/// A lock that is biased to the first core from which it is acquired.
fn given() -> CoreBiased<Given> {
    Bias::new(Given::default(), 1)
}

fn over_mutex() -> CoreBiased<Mutex> {
    Bias::new(Mutex::new(WaitPolicy::PARK_AT_ONCE), 1)
}

/// Adds one with the holder moved from `from` to `to` while it is inside.
fn add_while_moving(sum: &Sum<CoreBiased<Given>>, from: usize, to: usize) {
    move_to_core(from);
    let mut held = sum.acquire();
    move_to_core(to);
    *held += 1;
    drop(held);
}

/// No core owns the lock yet; two threads come, and the first makes its core the owner from inside.
fn no_owner_yet(other: usize) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Sum::new(given(), 0));
        let thread = thread::spawn({
            let sum = Arc::clone(&sum);
            move || {
                move_to_core(other);
                add(&sum, 1);
            }
        });
        add(&sum, 1);
        thread.join().expect("adder");
        assert_eq!(*sum.acquire(), 2);
    }
}

/// Threads are moved while they are inside: away from the owner core, and to it.
fn holders_move() {
    move_to_core(0);
    let sum = Arc::new(Sum::new(given(), 0));
    add(&sum, 1);
    let thread = thread::spawn({
        let sum = Arc::clone(&sum);
        move || add_while_moving(&sum, 1, 0)
    });
    add_while_moving(&sum, 0, 1);
    thread.join().expect("adder");
    assert_eq!(*sum.acquire(), 3);
}

#[test]
fn two_threads_of_the_owner_core() {
    explore(None, owner_and_others(given, 1, &[(0, 1)]));
    explore(Some(3), owner_and_others(given, 2, &[(0, 2)]));
}

#[test]
fn one_revocation() {
    explore(None, owner_and_others(given, 1, &[(1, 1)]));
    explore(Some(4), owner_and_others(given, 2, &[(1, 1)]));
}

#[test]
fn the_bias_moves_to_another_core_and_back() {
    explore(Some(3), owner_and_others(given, 2, &[(1, 3)]));
}

#[test]
fn three_threads() {
    explore(Some(2), owner_and_others(given, 1, &[(0, 1), (1, 1)]));
    explore(Some(2), owner_and_others(given, 1, &[(1, 1), (2, 1)]));
    explore(Some(2), owner_and_others(given, 1, &[(1, 2), (1, 1)]));
}

#[test]
fn over_the_mutex() {
    explore(Some(3), owner_and_others(over_mutex, 2, &[(1, 1)]));
    explore(Some(3), owner_and_others(over_mutex, 1, &[(0, 2)]));
    explore(Some(1), owner_and_others(over_mutex, 1, &[(0, 1), (1, 2)]));
}

#[test]
fn a_core_becomes_the_owner_while_others_come() {
    explore(None, no_owner_yet(0));
    explore(None, no_owner_yet(1));
}

#[test]
fn holders_are_moved() {
    explore(None, holders_move);
}

#[test]
fn tries() {
    explore(None, owner_and_trier(given, 0, 1, 1));
    explore(None, owner_and_trier(given, 1, 1, 1));
    explore(Some(3), owner_and_trier(given, 1, 2, 2));
    explore(Some(2), owner_and_trier(over_mutex, 1, 1, 2));
}

#[test]
fn a_try_and_an_acquisition() {
    explore(Some(2), bias::owner_trier_and_another(given, 0));
}

/// The last visits are by the owner core, or find a bias that is old.
#[test]
fn visits() {
    explore(Some(3), owner_and_trier(|| Visited(timed::<CoreBiased<_>>(1)), 0, 1, 3));
    explore(Some(3), owner_and_trier(|| Visited(timed::<CoreBiased<_>>(1)), 1, 1, 4));
}

/// The acquisition that makes a core the owner ends inside by the bias.
#[test]
fn a_visitor_leaves_a_young_bias_alone_and_interrupts_no_streak() {
    explore(None, bias::a_visitor_is_considerate::<CoreBiased<_>>(2));
}

#[test]
fn a_bias_that_was_worth_it_comes_back_sooner() {
    explore(None, bias::the_streak_adapts::<CoreBiased<_>>([2, 4, 2]));
}

/// The threads of one core are one user: together they make the core the owner, and all
/// of them enter by its bias.
#[test]
fn the_threads_of_a_core_have_one_streak() {
    explore(None, || {
        move_to_core(0);
        let lock = Arc::new(timed::<CoreBiased<_>>(4));
        for round in 0..4 {
            assert_eq!(passes_by_bias(&*lock), round >= 2, "round {round}");
            let neighbour = Arc::clone(&lock);
            let passes = thread::spawn(move || {
                move_to_core(0);
                passes_by_bias(&*neighbour)
            });
            assert_eq!(passes.join().expect("neighbour"), round >= 1, "round {round}");
        }
    });
}

#[test]
fn a_try_leaves_no_waiter_behind() {
    explore(None, bias::a_try_leaves_no_waiter(given));
}

#[test]
fn a_holder_does_not_enter_twice() {
    explore(None, bias::a_holder_tries_again(given));
    // Inside through L, since no core comes often enough.
    let over_l = || CoreBiased::<Given>::new(Given::default(), WaitPolicy::PARK_AT_ONCE);
    explore(None, bias::a_holder_tries_again(over_l));
}

with_fault!(a_missing_barrier_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_relaxed_release_is_found_by_a_revoker, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_relaxed_release_is_found_by_a_neighbour, owner_and_others(given, 1, &[(0, 1)]));

with_fault!(a_relaxed_owner_is_found, no_owner_yet(0));

with_fault!(an_owner_made_from_outside_is_found, no_owner_yet(0));

with_fault!(a_silent_release_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(an_impatient_revoker_is_found, owner_and_others(given, 1, &[(1, 1)]));

with_fault!(a_try_that_forgets_the_holder_is_found, owner_and_trier(given, 1, 1, 1));

with_fault!(a_barrier_for_another_core_is_found, owner_and_others(given, 1, &[(1, 1)]));
