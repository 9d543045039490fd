//! The ordered locks on real threads, from fewer than the cores to many more: bounded work, exact sums,
//! waiters that give up. (What one thread that does not run does to the others: `liveness.rs`.)
#![cfg(not(loom))]

use heddle_locks::abortable_mcs::StrictAbortableMcs;
use heddle_locks::clh::StrictClh;
use heddle_locks::ticket::StrictTicket;
use heddle_locks::{AbortableMcs, Clh, Fissile, Mcs, Ticket};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{clock, thread};
use heddle_sync::{Lock, Mutex, Native, RawLock, TimedLock, WaitPolicy};

const THREADS: [u32; 5] = [1, 2, 3, 16, 64];

/// Waiting policies that take different paths, and how many acquisitions they are good for.
const POLICIES: [(WaitPolicy, u32); 4] = [
    (WaitPolicy::DEFAULT, 4_000),
    (WaitPolicy::PARK_AT_ONCE, 1_000),
    (WaitPolicy { park: false, spin_ns: 100, yields: 0, ..WaitPolicy::DEFAULT }, 4_000),
    (WaitPolicy::STRICT, 4_000),
];

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn add(&mut self, turn: u32) -> u64 {
        assert_eq!(self.left, self.right);
        self.left += 1;
        if turn.is_multiple_of(257) {
            thread::yield_now();
        }
        self.right += 1;
        1
    }
}

/// `threads` threads share `total` turns, each of which does `once` and returns how many were added.
fn add_together<L: RawLock>(
    lock: L,
    threads: u32,
    total: u32,
    once: impl Fn(&Lock<L, Pair>, u32) -> u64 + Sync,
) {
    let lock = Lock::new(lock, Pair::default());
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                let (lock, once) = (&lock, &once);
                scope.spawn(move || (0..total / threads).map(|turn| once(lock, turn + thread)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    assert!(!lock.has_waiters());
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when all threads are gone");
}

fn acquire_or_try<L: RawLock>(lock: &Lock<L, Pair>, turn: u32) -> u64 {
    if turn.is_multiple_of(5) {
        lock.try_acquire().map_or(0, |mut pair| pair.add(turn))
    } else {
        lock.acquire().add(turn)
    }
}

/// Deadlines from "has passed" to "never".
fn acquire_in_time<L: TimedLock>(lock: &Lock<L, Pair>, turn: u32) -> u64 {
    let deadline = match turn % 4 {
        0 => 0,
        1 => clock::now_ns() + 2_000,
        2 => clock::now_ns() + 200_000,
        _ => return lock.acquire().add(turn),
    };
    lock.acquire_until(deadline).map_or(0, |mut pair| pair.add(turn))
}

fn stress<L: RawLock>(make: impl Fn(WaitPolicy) -> L) {
    for (policy, total) in POLICIES {
        for threads in THREADS {
            add_together(make(policy), threads, total, acquire_or_try);
        }
    }
}

fn stress_deadlines<L: TimedLock>(make: impl Fn(WaitPolicy) -> L) {
    for (policy, total) in POLICIES {
        for threads in THREADS {
            add_together(make(policy), threads, total, acquire_in_time);
        }
    }
}

#[test]
fn ticket() {
    stress(Ticket::new);
    stress_deadlines(Ticket::new);
}

#[test]
fn mutex_with_deadlines() {
    stress_deadlines(Mutex::new);
}

#[test]
fn mcs() {
    stress(Mcs::new);
}

#[test]
fn clh() {
    stress(Clh::new);
    stress_deadlines(Clh::new);
}

#[test]
fn abortable_mcs() {
    stress(AbortableMcs::new);
    stress_deadlines(AbortableMcs::new);
    stress_deadlines(|policy| AbortableMcs::with_patience(policy, None));
    stress_deadlines(|policy| AbortableMcs::with_patience(policy, Some(1_000)));
}

#[test]
fn a_word_over_any_lock() {
    stress(|policy| Fissile::over(Mutex::new(policy), policy));
    stress_deadlines(|policy| Fissile::over(Mutex::new(policy), policy));
}

/// A thread that takes the lock again and again, and others that want it once: they get it.
fn no_thread_is_kept_out<L: RawLock>(lock: L) {
    let lock = Lock::new(lock, 0_u64);
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

#[test]
fn no_thread_is_kept_out_for_ever() {
    for (policy, _) in POLICIES {
        no_thread_is_kept_out(Ticket::new(policy));
        no_thread_is_kept_out(Mcs::new(policy));
        no_thread_is_kept_out(Clh::new(policy));
        no_thread_is_kept_out(AbortableMcs::with_patience(policy, Some(1_000)));
    }
}

/// A holder stays inside while others come with short deadlines again and again: all come back, and it is not
/// the memory that grows (a lock's nodes are in one thread's cache at the end, where the test cannot see
/// them; the leak checker of a sanitizer build can).
fn give_up_again_and_again<L: TimedLock>(lock: L) {
    let token = lock.acquire();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    assert!(lock.acquire_until(clock::now_ns() + 1_000).is_none());
                }
            });
        }
    });
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    let token = lock.acquire_until(u64::MAX).expect("no thread is inside");
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    assert!(!lock.has_waiters());
}

#[test]
fn a_waiter_that_gives_up_comes_again() {
    give_up_again_and_again(Mutex::default());
    give_up_again_and_again(Ticket::default());
    give_up_again_and_again(Clh::default());
    give_up_again_and_again(AbortableMcs::default());
    give_up_again_and_again(StrictTicket::<Native>::default());
    give_up_again_and_again(StrictClh::<Native>::default());
    give_up_again_and_again(StrictAbortableMcs::<Native>::default());
}
