//! The mutex and the doorbell on real threads, from fewer than the cores to many more:
//! bounded work, exact sums.
#![cfg(not(loom))]

mod adding;

use adding::add_in_teams;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::{clock, thread};
use heddle_sync::{Doorbell, Lock, Mutex, Scope, WaitPolicy};
use std::time::Duration;

#[test]
fn mutex() {
    add_in_teams(Mutex::new);
}

/// A thread that takes the lock again and again, and one that wants it once: it gets it.
#[test]
fn no_thread_is_kept_out_for_ever() {
    for policy in [WaitPolicy::DEFAULT, WaitPolicy { yields: 2, ..WaitPolicy::DEFAULT }] {
        let lock = Lock::new(Mutex::new(policy), 0_u64);
        let served = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    *lock.acquire() += 1;
                    served.fetch_add(1, Ordering::Relaxed);
                });
            }
            // No timing: the loop ends only when all have been let in.
            while served.load(Ordering::Relaxed) < 8 {
                *lock.acquire() += 1;
            }
        });
    }
}

/// A ping-pong by two doorbells, with sleepers that always sleep and with patient ones.
#[test]
fn doorbells_lose_nothing() {
    const ROUNDS: u64 = 3_000;
    for scope in [Scope::Process, Scope::Machine] {
        let (ping, pong) = ((AtomicU64::new(0), Doorbell::new()), (AtomicU64::new(0), Doorbell::new()));
        let await_round = |(count, doorbell): &(AtomicU64, Doorbell), round: u64| {
            if count.load(Ordering::Acquire) < round {
                let came = || count.load(Ordering::Acquire) >= round;
                while let Some(ticket) = doorbell.prepare_unless(scope, came) {
                    // Every third wait has a timeout, which must not disturb the others.
                    ticket.park(round.is_multiple_of(3).then_some(Duration::from_micros(20)));
                }
            }
        };
        let announce = |(count, doorbell): &(AtomicU64, Doorbell), round: u64| {
            count.store(round, Ordering::Release);
            doorbell.ring(scope);
        };
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for round in 1..=ROUNDS {
                    await_round(&ping, round);
                    announce(&pong, round);
                }
            });
            for round in 1..=ROUNDS {
                announce(&ping, round);
                await_round(&pong, round);
            }
        });
        ping.1.ring(scope);
        assert!(!ping.1.ring(scope), "a sleeper that is gone is rung for once at most");
    }
}

/// One ring wakes all sleepers.
#[test]
fn one_ring_wakes_all() {
    const SLEEPERS: u32 = 32;
    let (event, doorbell, asleep) = (AtomicU32::new(0), Doorbell::new(), AtomicU32::new(0));
    std::thread::scope(|threads| {
        for _ in 0..SLEEPERS {
            threads.spawn(|| {
                let ticket = doorbell.prepare(Scope::Process);
                asleep.fetch_add(1, Ordering::Relaxed);
                ticket.park(None);
                doorbell.sleep_until(Scope::Process, || event.load(Ordering::Acquire) != 0);
            });
        }
        while asleep.load(Ordering::Relaxed) < SLEEPERS {
            thread::yield_now();
        }
        event.store(1, Ordering::Release);
        assert!(doorbell.ring(Scope::Process));
    });
    assert!(!doorbell.ring(Scope::Process), "the second ring finds nobody to wake");
}

/// Memory of zeros, as a shared mapping begins, is a doorbell; and it fits its cache line.
#[test]
fn zeros_are_a_doorbell() {
    assert_eq!((size_of::<Doorbell>(), align_of::<Doorbell>()), (64, 64));
    // SAFETY: the fields are integers, for which zero is a value.
    let doorbell: Doorbell = unsafe { std::mem::zeroed() };
    assert!(!doorbell.ring(Scope::Machine));
    let start = clock::now_ns();
    while doorbell.prepare(Scope::Machine).park(Some(Duration::from_millis(1))) {}
    assert!(clock::now_ns() - start >= 1_000_000);
}
