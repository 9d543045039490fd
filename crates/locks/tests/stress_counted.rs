//! A counted lock on real threads, from fewer than the cores to many more: the counts are exact.
#![cfg(not(loom))]

use heddle_locks::TwoLevel;
use heddle_locks::counted::{Counted, Near};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_sync::{Lock, Mutex, WaitPolicy};

#[test]
fn a_counted_lock_counts_everything() {
    const TURNS: u64 = 20_000;
    let distance = |one: usize, other: usize| if one == other { Near::HardwareThread } else { Near::L3 };
    for threads in [1, 2, 16, 64] {
        let policy = WaitPolicy::DEFAULT;
        let raw = TwoLevel::new(Mutex::new(policy), Mutex::new(policy), policy);
        let lock = Lock::new(Counted::new(raw, distance), 0);
        let turns = TURNS / threads;
        let refused = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (lock, refused) = (&lock, &refused);
                scope.spawn(move || {
                    for turn in 0..turns {
                        let guard = match (turn + thread) % 4 {
                            0 => lock.try_acquire(),
                            1 => Some(lock.acquire_low()),
                            _ => Some(lock.acquire()),
                        };
                        match guard {
                            Some(mut sum) => *sum += 1,
                            None => _ = refused.fetch_add(1, Ordering::Relaxed),
                        }
                        if turn.is_multiple_of(500) {
                            thread::yield_now();
                        }
                    }
                });
            }
        });
        let counts = lock.raw().statistics();
        let refused = refused.load(Ordering::Relaxed);
        assert_eq!((counts.acquisitions, counts.refused), (threads * turns - refused, refused));
        assert_eq!(counts.held.count(), counts.acquisitions);
        assert_eq!((counts.waited.count(), counts.gave_up), (counts.contended, 0));
        assert!(counts.contended <= counts.acquisitions);
        let hand_overs: u64 = counts.hand_overs.iter().sum();
        // The first of each thread comes after another's, except the very first.
        assert!((threads - 1..counts.acquisitions).contains(&hand_overs), "{hand_overs} hand-overs");
        assert_eq!(hand_overs, counts.hand_overs_to(Near::HardwareThread) + counts.hand_overs_to(Near::L3));
        assert_eq!(*lock.acquire(), counts.acquisitions);
    }
}
