//! The pool against a model: random sequences of takes, gives, drops and ends of caches by one thread at a
//! time.
#![cfg(not(loom))]

use heddle_sync::Native;
use heddle_sync::pool::{Cache, LocalPool, Pool, PooledObject};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::HashSet;

const CACHES: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Take by that cache.
    Take(usize),
    /// Give the object at that place (modulo their number) to that cache.
    Give(usize, usize),
    /// Drop the object at that place.
    Drop(usize),
    /// End that cache and begin a new one.
    Renew(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..CACHES).prop_map(Step::Take),
        4 => (0..CACHES, any::<usize>()).prop_map(|(cache, object)| Step::Give(cache, object)),
        1 => any::<usize>().prop_map(Step::Drop),
        1 => (0..CACHES).prop_map(Step::Renew),
    ]
}

/// Objects with a number that was given once.
fn numbered_pool(batch: u32, shards: usize) -> Pool<u64, Native> {
    let next = heddle_platform::atomic::AtomicU64::new(0);
    Pool::with_batch(move || next.fetch_add(1, heddle_platform::atomic::Ordering::Relaxed), batch, shards)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_object_is_in_one_place(
        batch in 1_u32..6,
        shards in 1_usize..4,
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let pool = numbered_pool(batch, shards);
        let mut caches: Vec<Cache<'_, u64>> = (0..CACHES).map(|_| pool.cache()).collect();
        let mut out: Vec<PooledObject<'_, u64>> = Vec::new();
        // The model: the numbers that are out, and the most there ever were.
        let mut numbers = HashSet::new();
        let mut most = 0;
        for step in steps {
            match step {
                Step::Take(cache) => {
                    let object = caches[cache].take();
                    prop_assert!(numbers.insert(*object), "{} was out", *object);
                    out.push(object);
                    most = most.max(out.len() as u64);
                }
                Step::Give(cache, place) if !out.is_empty() => {
                    let object = out.swap_remove(place % out.len());
                    prop_assert!(numbers.remove(&*object));
                    let number = *object;
                    caches[cache].give(object);
                    // The one given last comes first.
                    let again = caches[cache].take();
                    prop_assert_eq!(*again, number);
                    caches[cache].give(again);
                }
                Step::Drop(place) if !out.is_empty() => {
                    let object = out.swap_remove(place % out.len());
                    prop_assert!(numbers.remove(&*object));
                }
                Step::Renew(cache) => caches[cache] = pool.cache(),
                Step::Give(..) | Step::Drop(_) => {}
            }
            let cached = pool.made() - pool.idle() - out.len() as u64;
            prop_assert!(cached <= CACHES as u64 * 2 * u64::from(batch), "{} cached", cached);
        }
        // New objects are made only when all others are out, or in a cache.
        prop_assert!(pool.made() <= most + (CACHES as u64 * 2 + 1) * u64::from(batch));
        out.clear();
        caches.clear();
        prop_assert_eq!(pool.idle(), pool.made());
    }
}

#[test]
#[should_panic(expected = "a cache of the pool it was taken from")]
fn an_object_of_another_pool_is_refused() {
    let (one, other) = (numbered_pool(1, 1), numbered_pool(1, 1));
    let object = one.cache().take();
    other.cache().give(object);
}

#[test]
fn a_thread_that_ends_returns_its_stock() {
    let pool = LocalPool::new(numbered_pool(4, 2));
    for _ in 0..10 {
        std::thread::scope(|scope| {
            let user = scope.spawn(|| {
                let taken: Vec<_> = (0..9).map(|_| pool.take()).collect();
                drop(taken);
                assert!(pool.pool().idle() < pool.pool().made());
            });
            // A join waits for the thread's end; the scope alone would wait for that of its function.
            user.join().expect("user");
        });
        assert_eq!((pool.pool().made(), pool.pool().idle()), (12, 12));
    }
}

#[test]
fn objects_go_to_the_stock_of_the_thread_that_drops_them() {
    let pool = LocalPool::new(numbered_pool(4, 2));
    let object = pool.take();
    std::thread::scope(|scope| scope.spawn(|| drop(object)).join().expect("thread"));
    assert_eq!(pool.pool().made(), 4);
}

thread_local! {
    static DROPS: Cell<u32> = const { Cell::new(0) };
}

/// Pools that come and go: their objects are dropped with them, once, and threads that used them keep
/// nothing.
#[test]
fn pools_end_though_threads_list_them() {
    struct Noisy;
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }
    for round in 1..=100 {
        let pool = LocalPool::new(Pool::<Noisy, Native>::with_batch(|| Noisy, 8, 1));
        let (first, second) = (pool.take(), pool.take());
        drop(first);
        drop(second);
        drop(pool);
        assert_eq!(DROPS.get(), round * 8);
    }
}
