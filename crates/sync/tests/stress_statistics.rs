//! Statistics and the pool on real threads, from fewer than the cores to more than the table has slots.
#![cfg(not(loom))]

use heddle_platform::thread;
use heddle_sync::Native;
use heddle_sync::pool::{LocalPool, Pool, Pooled};
use heddle_sync::statistics::{PerThread, Tally};
use std::sync::mpsc;

/// Sums are exact, whether threads have blocks of their own or share one.
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
        assert_eq!(table.blocks().map(Tally::get).sum::<u64>(), threads * turns);
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
        // At most 300 objects are out at a time, and a cache keeps two batches.
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
