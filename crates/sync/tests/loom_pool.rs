//! The pool under the model checker: every object has one owner, none is lost, and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::Native;
use heddle_sync::pool::{Cache, Pool};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

const BATCH: u32 = 1;

fn pool(batch: u32, shards: usize) -> Arc<Pool<u32, Native>> {
    Arc::new(Pool::with_batch(|| 0, batch, shards))
}

/// Takes that many objects, writes to them, and gives them back.
fn use_objects(cache: &mut Cache<'_, u32>, count: usize) {
    let mut objects: Vec<_> = (0..count).map(|_| cache.take()).collect();
    for object in &mut objects {
        **object += 1;
    }
    objects.into_iter().for_each(|object| cache.give(object));
}

/// Two threads take and give; afterwards all objects lie in the pool.
fn exchange(batch: u32, shards: usize, rounds: &'static [usize]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let pool = pool(batch, shards);
        let work = |pool: &Pool<u32, Native>| {
            let mut cache = pool.cache();
            rounds.iter().for_each(|count| use_objects(&mut cache, *count));
        };
        let other = Arc::clone(&pool);
        let other = thread::spawn(move || work(&other));
        work(&pool);
        other.join().expect("user");
        assert_eq!(pool.idle(), pool.made(), "objects are missing");
        let most = rounds.iter().max().copied().unwrap_or(0) as u64;
        // Each thread's largest need, rounded up to batches, twice.
        assert!(pool.made() <= 2 * (most + u64::from(batch)), "{} made", pool.made());
    }
}

/// Two threads take, write and give; nothing is counted.
fn only_use(rounds: &'static [usize]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let pool = pool(BATCH, 1);
        let other = Arc::clone(&pool);
        let other = thread::spawn(move || {
            let mut cache = other.cache();
            rounds.iter().for_each(|count| use_objects(&mut cache, *count));
        });
        let mut cache = pool.cache();
        rounds.iter().for_each(|count| use_objects(&mut cache, *count));
        drop(cache);
        other.join().expect("user");
    }
}

/// One thread takes, the other drops what it gets.
fn a_loan_goes_elsewhere() {
    let pool = pool(2, 1);
    // The pool outlives the other thread, which is joined.
    let other_pool = Arc::clone(&pool);
    let other = thread::spawn(move || {
        let mut cache = other_pool.cache();
        let first = cache.take();
        let mut second = cache.take();
        *second += 1;
        drop(cache);
        drop(first);
        *second += 1;
        drop(second);
    });
    use_objects(&mut pool.cache(), 2);
    other.join().expect("user");
    assert_eq!(pool.idle(), pool.made());
}

#[test]
fn batches_are_exchanged() {
    explore(Some(2), exchange(BATCH, 1, &[2, 1]));
}

#[test]
fn batches_wander_between_shards() {
    explore(Some(2), exchange(BATCH, 2, &[2]));
}

#[test]
fn caches_return_what_they_hold() {
    explore(Some(3), exchange(2, 1, &[1, 2]));
}

#[test]
fn loans_outlive_their_cache() {
    explore(Some(3), a_loan_goes_elsewhere);
}

with_fault!(a_batch_that_stays_is_found, only_use(&[3, 1]));
with_fault!(a_batch_used_on_is_found, only_use(&[3, 1]));
with_fault!(a_lost_batch_is_found, exchange(BATCH, 1, &[2]));
with_fault!(a_chain_left_behind_is_found, exchange(BATCH, 1, &[2]));
