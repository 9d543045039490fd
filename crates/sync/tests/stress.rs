//! The locks and the doorbell on real threads, from fewer than the cores to many more:
//! bounded work, exact sums.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::{background, clock, thread};
use heddle_sync::{Biased, CoreBiased, Doorbell, Lock, Mutex, RawLock, Scope, WaitPolicy};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const THREADS: [u32; 5] = [1, 2, 3, 16, 64];
const ACQUISITIONS: u32 = 40_000;

/// The waiting policies that take different paths: the default, sleeping always, never sleeping, and a
/// reservation at every release while a thread waits.
const POLICIES: [WaitPolicy; 4] = [
    WaitPolicy::DEFAULT,
    WaitPolicy::PARK_AT_ONCE,
    WaitPolicy { park: false, ..WaitPolicy::DEFAULT },
    WaitPolicy { forced_yield_ns: 0, yields: 3, ..WaitPolicy::DEFAULT },
];

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

/// `threads` threads share `total` acquisitions, some by trying; some hold the lock while others run.
fn add_together<L: RawLock>(lock: &Lock<L, Pair>, threads: u32, total: u32) {
    let share = total / threads;
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || (0..share).map(|turn| add_once(lock, thread, turn)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when all threads are gone");
}

/// Adds one unless a try failed; returns how many were added.
fn add_once<L: RawLock>(lock: &Lock<L, Pair>, thread: u32, turn: u32) -> u64 {
    let mut pair = if (turn + thread).is_multiple_of(5) {
        let Some(pair) = lock.try_acquire() else { return 0 };
        pair
    } else {
        lock.acquire()
    };
    assert_eq!(pair.left, pair.right);
    pair.left += 1;
    if turn.is_multiple_of(257) {
        thread::yield_now();
    }
    pair.right += 1;
    1
}

#[test]
fn mutex() {
    for policy in POLICIES {
        for threads in THREADS {
            let lock = Lock::new(Mutex::new(policy), Pair::default());
            // A sleep and a wake-up for every acquisition are dear.
            let total = if policy.yields == 0 { ACQUISITIONS / 8 } else { ACQUISITIONS };
            add_together(&lock, threads, total);
            assert!(!lock.has_waiters());
        }
    }
}

#[test]
fn biased() {
    for policy in POLICIES {
        for threads in THREADS {
            let under = Mutex::new(policy);
            let lock = Lock::new(Biased::with_streak(under, policy, 2), Pair::default());
            let total = if policy.yields == 0 { ACQUISITIONS / 8 } else { ACQUISITIONS };
            add_together(&lock, threads, total);
        }
    }
}

#[test]
fn core_biased() {
    for policy in POLICIES {
        for threads in THREADS {
            let under = Mutex::new(policy);
            let lock = Lock::new(CoreBiased::with_streak(under, policy, 2), Pair::default());
            let total = if policy.yields == 0 { ACQUISITIONS / 8 } else { ACQUISITIONS };
            add_together(&lock, threads, total);
        }
    }
}

/// Holders that go from core to core while they are inside, so that the bias does, too.
#[test]
fn holders_that_are_moved() {
    let cores = background::allowed_cores();
    let lock = Arc::new(Lock::new(
        CoreBiased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1),
        Pair::default(),
    ));
    let threads: Vec<_> = (0..4_usize)
        .map(|thread| {
            let (lock, cores) = (Arc::clone(&lock), cores.clone());
            std::thread::spawn(move || {
                for turn in 0..2_000_usize {
                    let mut pair = lock.acquire();
                    assert_eq!(pair.left, pair.right);
                    pair.left += 1;
                    if turn % 8 == 0 {
                        background::bind(cores[(thread + turn / 8) % cores.len()]).expect("an allowed core");
                    }
                    pair.right += 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (8_000, 8_000));
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
                let mut ticket = doorbell.prepare(scope);
                while count.load(Ordering::Acquire) < round {
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
        assert!(!ping.1.has_sleepers() && !pong.1.has_sleepers());
        assert!(!ping.1.ring(scope), "no sleeper is left to wake");
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
                let mut ticket = doorbell.prepare(Scope::Process);
                asleep.fetch_add(1, Ordering::Relaxed);
                while event.load(Ordering::Acquire) == 0 {
                    ticket.park(None);
                }
            });
        }
        while asleep.load(Ordering::Relaxed) < SLEEPERS {
            thread::yield_now();
        }
        event.store(1, Ordering::Release);
        assert!(doorbell.ring(Scope::Process));
    });
    assert!(!doorbell.has_sleepers());
}

/// Memory of zeros, as a shared mapping begins, is a doorbell; and it fits its cache line.
#[test]
fn zeros_are_a_doorbell() {
    assert_eq!((size_of::<Doorbell>(), align_of::<Doorbell>()), (64, 64));
    // SAFETY: the fields are integers, for which zero is a value.
    let doorbell: Doorbell = unsafe { std::mem::zeroed() };
    assert!(!doorbell.ring(Scope::Machine));
    let mut ticket = doorbell.prepare(Scope::Machine);
    let start = clock::now_ns();
    while ticket.park(Some(Duration::from_millis(1))) {}
    assert!(clock::now_ns() - start >= 1_000_000);
}
