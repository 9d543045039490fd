//! How a waiter waits: it spins, yields and sleeps as its policy and what it has seen tell it.
#![cfg(not(any(loom, tsan)))]

mod stopped;

use heddle_platform::{Native, Platform};
use heddle_sync::wait::Waiter;
use heddle_sync::{Next, WaitPolicy};
use stopped::{Watched, dear_yields, yields_in_vain, yields_of};

fn turns_until_park(waiter: &mut Waiter<Watched>) -> u32 {
    let mut turns = 0;
    while waiter.pause() == Next::Poll {
        turns += 1;
    }
    turns
}

#[test]
fn spins_then_yields_then_parks() {
    let policy = WaitPolicy { spin_ns: 20_000, yields: 3, ..WaitPolicy::DEFAULT };
    let mut waiter = Waiter::new(&policy, 1);
    let start = Native::now_ns();
    let turns = turns_until_park(&mut waiter);
    assert!(turns > 3);
    assert!(Native::now_ns() - start >= 19_000, "the spin was cut short");
    assert_eq!(waiter.pause(), Next::Park, "parking stays the advice");
    waiter.reset();
    assert_eq!(waiter.pause(), Next::Poll);
}

#[test]
fn without_a_spin_it_yields_exactly_as_often_as_told() {
    let policy = WaitPolicy { spin_ns: 0, yields: 5, ..WaitPolicy::DEFAULT };
    assert_eq!(turns_until_park(&mut Waiter::new(&policy, 9)), 5);
    assert_eq!(turns_until_park(&mut Waiter::new(&WaitPolicy::PARK_AT_ONCE, 1)), 0);
}

/// The more threads poll one word, the more seldom each polls, as long as its yields let no other thread run.
#[test]
fn in_a_crowd_it_yields_several_times_between_polls_of_a_lock() {
    let policy = WaitPolicy { spin_ns: 0, yields: 5, ..WaitPolicy::DEFAULT };
    let yields_between_polls = |mut waiter: Waiter<Watched>| {
        let yields = yields_in_vain(|| assert_eq!(turns_until_park(&mut waiter), policy.yields));
        yields / policy.yields
    };
    for (crowd, expected) in [(1, 1), (3, 1), (4, 2), (44, 12)] {
        assert_eq!(yields_between_polls(Waiter::backing_off(&policy, crowd)), expected);
    }
    assert_eq!(yields_between_polls(Waiter::new(&policy, 44)), 1, "its word is not polled by others");
    let let_others_run = yields_of(|| {
        turns_until_park(&mut Waiter::backing_off(&policy, 44));
    });
    assert_eq!(let_others_run, policy.yields, "it polls as soon as another thread has run");
}

#[test]
fn without_parking_it_goes_on() {
    let policy = WaitPolicy { spin_ns: 0, yields: 0, park: false, ..WaitPolicy::DEFAULT };
    let mut waiter = Waiter::<Watched>::new(&policy, 2);
    assert!((0..1_000).all(|_| waiter.pause() == Next::Poll));
}

/// Beside threads that compute, a waiter spins for longer, and then sleeps.
#[test]
fn where_yields_are_dear_it_sleeps_without_one() {
    let policy = WaitPolicy { spin_ns: 1_000, yields: 100, ..WaitPolicy::DEFAULT };
    let start = Native::now_ns();
    assert_eq!(dear_yields(|| assert!(turns_until_park(&mut Waiter::new(&policy, 1)) > 0)), 0);
    assert!(Native::now_ns() - start >= 19_000, "the spin was cut short");
    let (start, mut early) = (Native::now_ns(), Waiter::new(&policy, 1).sleeping_early());
    assert!(turns_until_park(&mut early) > 0 && !early.has_yielded());
    assert!(Native::now_ns() - start >= 19_000, "the spin was cut short");
    let goes_on = WaitPolicy { park: false, ..policy };
    let yields = dear_yields(|| {
        let mut waiter = Waiter::<Watched>::new(&goes_on, 1);
        while !waiter.has_yielded() {
            assert_eq!(waiter.pause(), Next::Poll);
        }
    });
    assert_eq!(yields, 1, "a thread that may not sleep yields");
    // `Watched` has as many cores as anybody could want, less than that many waiters.
    let among_many = dear_yields(|| {
        turns_until_park(&mut Waiter::new(&policy, usize::MAX));
    });
    assert_eq!(among_many, policy.yields, "those that wait beside it need its core");
}
