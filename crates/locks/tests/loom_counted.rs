//! A counted lock under the model checker: each acquisition is counted once.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::counted::{Counted, Near};
use heddle_sync::{Lock, RawLock};
use loom::sync::Arc;
use loom::thread;
use model::{Given, explore};

#[test]
fn a_counted_lock_counts() {
    explore(Some(2), || {
        let nearness = |_: usize, _: usize| Near::Core;
        let lock = Arc::new(Lock::new(Counted::new(Given::default(), nearness), 0));
        let other = Arc::clone(&lock);
        let other = thread::spawn(move || *other.acquire() += 1);
        *lock.acquire() += 1;
        let tried = lock.try_acquire().map(|mut sum| *sum += 1).is_some();
        other.join().expect("adder");
        assert_eq!(*lock.acquire(), 2 + u32::from(tried));
        let counts = lock.raw().statistics();
        assert_eq!(counts.acquisitions, 3 + u64::from(tried));
        assert_eq!(counts.refused, u64::from(!tried));
        assert_eq!(counts.held.count(), counts.acquisitions);
        assert_eq!(counts.waited.count(), counts.contended);
        assert!((1..=2).contains(&counts.hand_overs_to(Near::Core)));
        assert_eq!(lock.raw().by_thread().len(), 2);
        assert!(!lock.raw().under().has_waiters());
    });
}
