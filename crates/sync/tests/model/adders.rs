//! Bodies of models that every lock has to pass.

use heddle_sync::{Lock, RawLock, TimedLock};
use loom::sync::Arc;
use loom::thread;

/// `threads` threads add one, `times` times each.
pub(crate) fn add<L: RawLock + 'static>(
    make: fn() -> L,
    threads: u32,
    times: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = Arc::new(Lock::new(make(), 0));
        let work = move |sum: &Lock<L, u32>| (0..times).for_each(|_| *sum.acquire() += 1);
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || work(&sum))
            })
            .collect();
        work(&sum);
        for other in others {
            other.join().expect("adder");
        }
        assert!(!sum.has_waiters());
        assert_eq!(*sum.acquire(), threads * times);
    }
}

fn try_to_add<L: RawLock>(sum: &Lock<L, u32>) -> u32 {
    sum.try_acquire().map_or(0, |mut sum| {
        *sum += 1;
        1
    })
}

/// One thread acquires, and `tries` others try once each.
pub(crate) fn acquire_and_try<L: RawLock + 'static>(
    make: fn() -> L,
    tries: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = Arc::new(Lock::new(make(), 0));
        let others: Vec<_> = (0..tries)
            .map(|_| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || try_to_add(&sum))
            })
            .collect();
        *sum.acquire() += 1;
        let added: u32 = others.into_iter().map(|other| other.join().expect("trier")).sum();
        assert_eq!(*sum.acquire(), 1 + added);
        assert_eq!(try_to_add(&sum), 1, "a free lock is not refused");
    }
}

/// One thread acquires `times` times; `others` each try until the deadline, `attempts` times.
pub(crate) fn acquire_and_give_up<L: TimedLock + 'static>(
    make: fn() -> L,
    times: u32,
    others: u32,
    attempts: u32,
    patience_ns: u64,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        super::clocked::restart();
        let sum = Arc::new(Lock::new(make(), 0));
        let others: Vec<_> = (0..others)
            .map(|_| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || (0..attempts).map(|_| add_in_time(&sum, patience_ns)).sum::<u32>())
            })
            .collect();
        (0..times).for_each(|_| *sum.acquire() += 1);
        let added: u32 = others.into_iter().map(|other| other.join().expect("timed")).sum();
        assert_eq!(*sum.acquire(), times + added);
        assert_eq!(try_to_add(&sum), 1, "a free lock is not refused");
    }
}

fn add_in_time<L: TimedLock>(sum: &Lock<L, u32>, patience_ns: u64) -> u32 {
    let deadline = super::clocked::now() + patience_ns;
    sum.acquire_until(deadline).map_or(0, |mut sum| {
        *sum += 1;
        1
    })
}

/// The holder is never told of a waiter that does not exist.
pub(crate) fn no_phantom_waiters<L: RawLock + 'static>(make: fn() -> L) -> impl Fn() + Sync + Send + 'static {
    move || {
        let lock = Arc::new(make());
        let entered = Arc::new(heddle_platform::atomic::AtomicU32::new(0));
        let other = {
            let (lock, entered) = (Arc::clone(&lock), Arc::clone(&entered));
            thread::spawn(move || {
                let token = lock.acquire();
                let alone = lock.has_waiters();
                entered.store(1, heddle_platform::atomic::Ordering::Relaxed);
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
                alone
            })
        };
        let token = lock.acquire();
        let has_waiters = lock.has_waiters();
        let was_inside = entered.load(heddle_platform::atomic::Ordering::Relaxed) == 1;
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        let other_saw_a_waiter = other.join().expect("other");
        assert!(!(has_waiters && was_inside), "the other had been inside before and does not come again");
        assert!(!(has_waiters && other_saw_a_waiter), "each waits for the other");
        assert!(!lock.has_waiters());
    }
}

/// The models of a lock that `$sleeping` makes with waiters that sleep at once, and `$polling`
/// with waiters that poll once more before. With two acquisitions each, two threads are explored
/// up to `$bound` preemptions.
#[allow(unused_macros)]
macro_rules! every_lock_passes {
    ($sleeping:expr, $polling:expr, $bound:expr) => {
        #[test]
        fn two_threads() {
            explore(None, add($sleeping, 2, 1));
            explore(Some($bound), add($sleeping, 2, 2));
            explore(Some(3), add($polling, 2, 2));
        }

        #[test]
        fn three_threads() {
            explore(Some(2), add($sleeping, 3, 1));
            explore(Some(2), add($polling, 3, 1));
        }

        #[test]
        fn tries() {
            explore(None, acquire_and_try($sleeping, 1));
            explore(Some(2), acquire_and_try($sleeping, 2));
        }

        #[test]
        fn waiters_reported_are_there() {
            explore(None, no_phantom_waiters($sleeping));
        }
    };
}
#[allow(unused_imports)]
pub(crate) use every_lock_passes;
