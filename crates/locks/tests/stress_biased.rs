//! The locks with a bias on real threads, from fewer than the cores to many more: bounded work, exact sums,
//! owners that come, go and are moved.
#![cfg(not(loom))]

#[path = "../../sync/tests/adding/mod.rs"]
mod adding;

use adding::add_in_teams;
use heddle_locks::{Biased, CoreBiased};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{background, thread};
use heddle_sync::{Lock, Mutex, RawLock, WaitPolicy};
use std::sync::{Arc, Barrier};

#[test]
fn biased() {
    add_in_teams(|policy| Biased::with_streak(Mutex::new(policy), policy, 2));
}

#[test]
fn core_biased() {
    add_in_teams(|policy| CoreBiased::with_streak(Mutex::new(policy), policy, 2));
}

/// Holders that go from core to core while they are inside, so that the bias does, too.
#[test]
fn holders_that_are_moved() {
    let cores = background::allowed_cores();
    let lock = Arc::new(Lock::new(
        CoreBiased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1),
        (0_u32, 0_u32),
    ));
    let threads: Vec<_> = (0..4_usize)
        .map(|thread| {
            let (lock, cores) = (Arc::clone(&lock), cores.clone());
            std::thread::spawn(move || {
                for turn in 0..2_000_usize {
                    let mut pair = lock.acquire();
                    assert_eq!(pair.0, pair.1);
                    pair.0 += 1;
                    if turn % 8 == 0 {
                        background::bind(cores[(thread + turn / 8) % cores.len()]).expect("an allowed core");
                    }
                    pair.1 += 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    let pair = lock.acquire();
    assert_eq!((pair.0, pair.1), (8_000, 8_000));
}

/// A process made by `fork` enters by the bias, and can take it away.
#[test]
fn a_forked_child_has_the_bias_too() {
    let lock = CoreBiased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1);
    let pass = || {
        let token = lock.acquire();
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    };
    pass();
    // SAFETY: the child only uses the lock and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        for core in background::allowed_cores() {
            background::bind(core).expect("an allowed core");
            (0..100).for_each(|_| pass());
        }
        // SAFETY: ends the child without running anything of the test's.
        unsafe { libc::_exit(42) };
    }
    let mut status = 0;
    // SAFETY: the child of this test, and a number of ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 42));
    pass();
}

/// More owners one after the other than there are seats, all alive, none coming back.
#[test]
fn more_owners_than_seats() {
    const OWNERS: u32 = 20;
    let lock = Lock::new(Biased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1), 0);
    let everybody = Barrier::new(OWNERS as usize);
    let turn = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for number in 0..OWNERS {
            let (lock, everybody, turn) = (&lock, &everybody, &turn);
            scope.spawn(move || {
                while turn.load(Ordering::Acquire) != number {
                    thread::yield_now();
                }
                for _ in 0..100 {
                    *lock.acquire() += 1;
                }
                turn.store(number + 1, Ordering::Release);
                everybody.wait();
            });
        }
    });
    assert_eq!(*lock.acquire(), OWNERS * 100);
}

/// Threads that come, use the lock for themselves, and end: their identities are used again.
#[test]
fn owners_that_end() {
    let lock = Lock::new(Biased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1), 0);
    for _ in 0..200 {
        std::thread::scope(|scope| {
            scope.spawn(|| (0..50).for_each(|_| *lock.acquire() += 1));
        });
        *lock.acquire() += 1;
    }
    assert_eq!(*lock.acquire(), 200 * 51);
}

/// A revoker sleeps while the owner stays inside for long, and is woken when it leaves.
#[test]
fn a_revoker_sleeps_through_a_long_hold() {
    let lock = Lock::new(Biased::with_streak(Mutex::default(), WaitPolicy::PARK_AT_ONCE, 1), 0);
    drop(lock.acquire());
    let guard = lock.acquire();
    std::thread::scope(|scope| {
        let revoker = scope.spawn(|| *lock.acquire() += 1);
        while !lock.has_waiters() {
            thread::yield_now();
        }
        assert!(!revoker.is_finished());
        drop(guard);
    });
    assert_eq!(*lock.acquire(), 1);
}
