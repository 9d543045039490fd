//! The locks on a small simulated machine: they need nothing but a `Platform`.
//!
//! | file | content |
//! |---|---|
//! | `machine.rs` | threads that take turns, each with a separate clock; the one furthest behind goes on |
//! | `memory.rs` | atomics that know which caches hold them, and so the cost of an access |
//! | `platform.rs` | the two as a `Platform` |
//! | `contention.rs` | the rates of a pair of locks, and of the locks with one class, under contention |
//!
//! Virtual time depends on the seed alone, not on the machine that runs the test nor on its load.
#![cfg(not(loom))]

mod contention;
mod machine;
mod memory;
mod platform;

use heddle_locks::{abortable_mcs, biased, clh, core_biased, hmcs, mcs, ticket};
use heddle_sync::{Lock, RawLock, TimedLock, WaitPolicy, mutex};
use machine::{Machine, Report};
use platform::Simulated;

/// Never sleeps. A queue lock's sleepers share a few doorbells by their nodes' addresses, which are not the
/// seed's to choose.
const AWAKE: WaitPolicy = WaitPolicy { park: false, ..WaitPolicy::DEFAULT };

const TURNS: u64 = 40;

/// Everybody adds one `TURNS` times, with some time inside and outside; nothing may be lost.
fn add_together<L: RawLock<Platform = Simulated>>(raw: L, threads: usize, seed: u64) -> Report {
    let lock = Lock::new(raw, (0_u64, 0_u64));
    let report = machine::run(seed, threads, |number| {
        for turn in 0..TURNS {
            if turn % 7 == number as u64 % 7 {
                // Others may come first, so it may fail; but it must not wait.
                drop(lock.try_acquire());
            }
            let mut sums = lock.acquire();
            sums.0 += 1;
            Machine::spend(50);
            sums.1 += 1;
            assert_eq!(sums.0, sums.1);
            drop(sums);
            Machine::spend(80);
        }
    });
    assert_eq!(lock.into_inner(), (threads as u64 * TURNS, threads as u64 * TURNS));
    report
}

/// Same seed, same times; another seed, other times.
fn depends_on_the_seed<L: RawLock<Platform = Simulated>>(make: impl Fn() -> L) {
    for threads in [1, 2, 5] {
        let first = add_together(make(), threads, 1);
        assert_eq!(first, add_together(make(), threads, 1));
        assert_ne!(first, add_together(make(), threads, 2));
        // No less than the sections one after the other, and the time that one thread spends for itself.
        assert!(first.end_ns() >= threads as u64 * TURNS * 50);
        assert!(first.end_ns() >= TURNS * 130);
    }
}

#[test]
fn mutex_in_virtual_time() {
    for policy in [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE, AWAKE] {
        depends_on_the_seed(|| mutex::Mutex::<Simulated>::new(policy));
    }
}

#[test]
fn biased_mutex_in_virtual_time() {
    let under = || mutex::Mutex::<Simulated>::new(WaitPolicy::DEFAULT);
    depends_on_the_seed(|| biased::Biased::with_streak(under(), WaitPolicy::DEFAULT, 4));
}

#[test]
fn core_biased_mutex_in_virtual_time() {
    let under = || mutex::Mutex::<Simulated>::new(WaitPolicy::DEFAULT);
    depends_on_the_seed(|| core_biased::CoreBiased::with_streak(under(), WaitPolicy::DEFAULT, 4));
}

#[test]
fn ticket_lock_in_virtual_time() {
    for policy in [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE, AWAKE] {
        depends_on_the_seed(|| ticket::Ticket::<Simulated>::new(policy));
    }
}

#[test]
fn mcs_in_virtual_time() {
    depends_on_the_seed(|| mcs::Mcs::<Simulated>::new(AWAKE));
    depends_on_the_seed(|| mcs::StrictMcs::<Simulated>::new(AWAKE));
}

#[test]
fn clh_in_virtual_time() {
    depends_on_the_seed(|| clh::Clh::<Simulated>::new(AWAKE));
}

#[test]
fn abortable_mcs_in_virtual_time() {
    depends_on_the_seed(|| abortable_mcs::AbortableMcs::<Simulated>::new(AWAKE));
}

#[test]
fn hmcs_on_two_simulated_packages() {
    let tree = hmcs::Tree::balanced(&[2, 2], 2);
    depends_on_the_seed(|| hmcs::Hmcs::<Simulated>::new(&tree, AWAKE));
    depends_on_the_seed(|| hmcs::StrictHmcs::<Simulated>::new(&tree, AWAKE));
}

/// Sleeping queue locks: right, if not the same at each run.
#[test]
fn queue_locks_that_sleep_lose_no_thread() {
    for policy in [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE] {
        for seed in 1..4 {
            add_together(mcs::Mcs::<Simulated>::new(policy), 5, seed);
            add_together(clh::Clh::<Simulated>::new(policy), 5, seed);
            add_together(abortable_mcs::AbortableMcs::<Simulated>::new(policy), 5, seed);
        }
    }
}

/// A waiter with a deadline gives up when the virtual clock has reached it, not before, and not much later.
fn gives_up_in_time<L: TimedLock<Platform = Simulated>>(raw: L) {
    const DEADLINE_NS: u64 = 400_000;
    let lock = Lock::new(raw, ());
    machine::run(1, 2, |number| {
        if number == 0 {
            let held = lock.acquire();
            Machine::spend(1_000_000);
            drop(held);
        } else {
            Machine::spend(10_000);
            assert!(lock.acquire_until(DEADLINE_NS).is_none());
            let now = Machine::now_ns();
            assert!((DEADLINE_NS..DEADLINE_NS + 50_000).contains(&now), "{now}");
            drop(lock.acquire());
            assert!(Machine::now_ns() >= 1_000_000);
        }
    });
}

#[test]
fn deadlines_are_virtual() {
    for policy in [WaitPolicy::DEFAULT, AWAKE] {
        gives_up_in_time(clh::Clh::<Simulated>::new(policy));
        gives_up_in_time(abortable_mcs::AbortableMcs::<Simulated>::new(policy));
        gives_up_in_time(hmcs::Hmcs::<Simulated>::new(&hmcs::Tree::flat(), policy));
    }
}

/// Threads that wait for each other are reported, not waited for.
#[test]
#[should_panic(expected = "all threads sleep")]
fn a_deadlock_is_found() {
    let lock = Lock::new(mutex::Mutex::<Simulated>::new(WaitPolicy::DEFAULT), ());
    machine::run(1, 2, |_| {
        std::mem::forget(lock.acquire());
    });
}
