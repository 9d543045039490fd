//! The pool, the counter and the leader under random schedules of more threads than loom can explore: the
//! same sources on another platform.
#![cfg(not(any(loom, asan, tsan)))]

mod shuttle_world;

use heddle_sync::WaitPolicy;
use heddle_sync::leader::{Leadership, Progress};
use heddle_sync::pool::Pool;
use heddle_sync::sync_counter::SyncCounter;
use shuttle::rand::Rng;
use shuttle::thread;
use shuttle_world::Shuttle;
use std::sync::Arc;

const SCHEDULES: usize = 300;
const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

/// An object that records its holder: no other thread may have it.
#[derive(Default)]
struct Marked {
    user: Option<usize>,
}

/// Threads with random needs, among them some that pass objects on to others, and caches that come and go.
#[test]
fn pool() {
    shuttle::check_random(
        || {
            let pool: Arc<Pool<Marked, Shuttle>> = Arc::new(Pool::with_batch(Marked::default, 2, 2));
            let users: Vec<_> = (0..4)
                .map(|user| {
                    let pool = Arc::clone(&pool);
                    thread::spawn(move || {
                        let mut rng = shuttle::rand::thread_rng();
                        for _ in 0..3 {
                            let mut cache = pool.cache();
                            let mut objects: Vec<_> =
                                (0..rng.gen_range(1..6)).map(|_| cache.take()).collect();
                            for object in &mut objects {
                                assert_eq!(object.user.replace(user), None, "lent out twice");
                            }
                            thread::yield_now();
                            for mut object in objects {
                                assert_eq!(object.user.take(), Some(user));
                                // Some go back by being dropped.
                                if rng.gen_bool(0.8) {
                                    cache.give(object);
                                }
                            }
                        }
                    })
                })
                .collect();
            users.into_iter().for_each(|user| user.join().expect("user"));
            assert_eq!(pool.idle(), pool.made());
            // Four users with at most five objects at a time, each rounded up to batches, and
            // the objects in the caches.
            assert!(pool.made() <= 4 * (5 + 2 * 2), "{} made", pool.made());
        },
        SCHEDULES,
    );
}

/// The events of all threads, completed by the thread that polls.
struct Network {
    leadership: Leadership<Shuttle>,
    asked: shuttle::sync::Mutex<Vec<Arc<SyncCounter<Shuttle>>>>,
}

impl Progress for Network {
    fn poll(&self) -> bool {
        let mut asked = self.asked.lock().expect("not poisoned");
        if asked.is_empty() {
            return false;
        }
        let chosen = shuttle::rand::thread_rng().gen_range(0..asked.len());
        let counter = asked.swap_remove(chosen);
        drop(asked);
        counter.signal();
        true
    }

    fn idle(&self, _: Option<u64>) {
        thread::yield_now();
    }
}

#[test]
fn leader() {
    shuttle::check_random(
        || {
            let asked = shuttle::sync::Mutex::new(Vec::new());
            let network = Arc::new(Network { leadership: Leadership::new(POLICY), asked });
            let waiters: Vec<_> = (0..5)
                .map(|waiter| {
                    let network = Arc::clone(&network);
                    thread::spawn(move || {
                        for round in 0..3_u32 {
                            let events = 1 + round % 2;
                            let counter = Arc::new(SyncCounter::new(events));
                            for _ in 0..events {
                                network.asked.lock().expect("not poisoned").push(Arc::clone(&counter));
                            }
                            // Some have no time at first.
                            let hasty = (waiter + round).is_multiple_of(3);
                            let _ = hasty && network.leadership.wait(&counter, &*network, Some(0));
                            assert!(network.leadership.wait(&counter, &*network, None));
                            assert!(counter.is_done());
                        }
                    })
                })
                .collect();
            waiters.into_iter().for_each(|waiter| waiter.join().expect("waiter"));
        },
        SCHEDULES,
    );
}
