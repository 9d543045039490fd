//! Statistics and the pool on real threads, from fewer than the cores to more than the table has places.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_sync::pool::{LocalPool, Pool, Pooled};
use heddle_sync::statistics::{Counted, Near, PerThread, Tally};
use heddle_sync::{Lock, Mutex, Native, TwoLevel, WaitPolicy};
use std::sync::mpsc;

/// Sums are exact, whether threads have places of their own or share one.
#[test]
fn every_count_arrives() {
    const TURNS: u64 = 10_000;
    for (slots, threads) in [(1, 8), (4, 8), (64, 64), (16, 200)] {
        let table: PerThread<Tally, Native> = PerThread::with_slots(slots);
        let turns = TURNS / threads;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..turns {
                        let mine = table.mine();
                        mine.value.add(1, mine.writers);
                    }
                });
            }
        });
        assert_eq!(table.places().map(Tally::get).sum::<u64>(), threads * turns);
    }
}

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

/// An object that notices a second user.
#[derive(Default)]
struct Marked {
    user: Option<u64>,
}

#[test]
fn objects_have_one_user() {
    for threads in [2, 16, 64] {
        let pool = LocalPool::new(Pool::<Marked, Native>::new(Marked::default));
        std::thread::scope(|scope| {
            for user in 0..threads {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..(2_000 / threads) {
                        let count = 1 + (round * 37 + user) % 300;
                        let mut objects: Vec<_> = (0..count).map(|_| pool.take()).collect();
                        for object in &mut objects {
                            assert_eq!(object.user.replace(user), None, "lent out twice");
                        }
                        if round.is_multiple_of(8) {
                            thread::yield_now();
                        }
                        for object in &mut objects {
                            assert_eq!(object.user.take(), Some(user));
                        }
                    }
                });
            }
        });
        // What 300 at a time need, and two batches a cache.
        assert!(pool.pool().made() <= threads * (300 + 3 * 128), "{} made", pool.pool().made());
    }
}

/// One thread only takes, another only drops: batches wander back, and the pool does not grow.
#[test]
fn batches_wander_back() {
    const OBJECTS: usize = 20_000;
    const UNDERWAY: usize = 64;
    let pool = LocalPool::new(Pool::<Marked, Native>::new(Marked::default));
    let (sender, receiver) = mpsc::sync_channel::<Pooled<'_, Marked>>(UNDERWAY);
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| {
            for _ in 0..OBJECTS {
                sender.send(pool.take()).expect("the receiver takes all");
            }
        });
        scope.spawn(move || receiver.iter().take(OBJECTS).for_each(drop)).join().expect("dropper");
        taker.join().expect("taker");
    });
    let made = pool.pool().made();
    assert!(made <= 128 * 6, "{made} made");
    assert_eq!(pool.pool().idle(), made, "both threads have ended");
}
