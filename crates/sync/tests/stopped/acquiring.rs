//! Threads that acquire a lock, and one of them is stopped.

use super::{Stoppable, await_that, others};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{clock, hint, thread};
use heddle_sync::{RawLock, TimedLock, WaitPolicy};
use std::any::type_name;

/// A waiter that is awake for long, and one that sleeps. (Not for good: a mutex's last holder spends all its
/// yields on waiters that do not run.)
pub(crate) const POLICIES: [WaitPolicy; 2] =
    [WaitPolicy { yields: 100_000, ..WaitPolicy::DEFAULT }, WaitPolicy::PARK_AT_ONCE];

/// How often each of the others comes while one is stopped.
pub(crate) const TURNS: u32 = 500;

/// When a thread that acquires a lock is stopped.
#[derive(Clone, Copy)]
pub(crate) enum Moment {
    /// Somewhere in its wait.
    Waiting,
    /// That many spin hints after it began.
    Anywhere(u32),
}
use Moment::{Anywhere, Waiting};

/// From before the first instruction to well into the wait.
pub(crate) const ANYWHERE: [Moment; 10] = [
    Anywhere(0),
    Anywhere(1),
    Anywhere(3),
    Anywhere(6),
    Anywhere(10),
    Anywhere(20),
    Anywhere(40),
    Anywhere(100),
    Anywhere(500),
    Waiting,
];

pub(crate) fn pass<L: RawLock>(lock: &L) {
    let token = lock.acquire();
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
}

/// The caller holds the lock, by `token`. A thread comes by `acquire`, is stopped, the caller leaves, and
/// `meanwhile` runs before the thread goes on.
pub(crate) fn stop_one_that_comes<L: RawLock>(
    lock: &L,
    token: L::Token,
    acquire: impl Fn() -> L::Token + Sync,
    moment: Moment,
    meanwhile: impl FnOnce(),
) {
    let waiter = Stoppable::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            waiter.run(|| {
                let token = acquire();
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
            });
        });
        match moment {
            Waiting => waiter.await_wait(),
            Anywhere(hints) => {
                waiter.await_begin();
                (0..hints).for_each(|_| hint::spin_loop());
            }
        }
        let stopped = waiter.stop();
        // SAFETY: the caller's.
        unsafe { lock.release(token) };
        meanwhile();
        drop(stopped);
    });
    pass(lock);
}

pub(crate) fn stop_a_waiter<L: RawLock>(lock: &L, moment: Moment, meanwhile: impl FnOnce()) {
    let token = lock.acquire();
    stop_one_that_comes(lock, token, || lock.acquire(), moment, meanwhile);
}

/// So many others come and go.
pub(crate) fn go_on<L: RawLock>(lock: &L, threads: usize) {
    others(threads, "the others to come through", || (0..TURNS).for_each(|_| pass(lock)));
}

/// A waiter with a deadline gives up, and no thread gets in.
pub(crate) fn get_away<L: TimedLock>(lock: &L) {
    others(3, "those with deadlines to give up", || {
        for _ in 0..10 {
            assert!(lock.acquire_until(clock::now_ns() + 100_000).is_none(), "got in: {}", type_name::<L>());
            assert!(lock.try_acquire().is_none(), "got in: {}", type_name::<L>());
        }
    });
}

/// A holder is stopped: no thread gets in, waiters with deadlines give up, the others
/// are served when it goes on.
pub(crate) fn get_away_from_a_holder<L: TimedLock>(make: impl Fn(WaitPolicy) -> L) {
    for policy in POLICIES {
        let lock = make(policy);
        let (holder, behind) = (Stoppable::default(), Stoppable::default());
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                holder.run(|| {
                    let token = lock.acquire();
                    inside.store(1, Ordering::Release);
                    while inside.load(Ordering::Acquire) == 1 {
                        thread::yield_now();
                    }
                    // SAFETY: acquired above.
                    unsafe { lock.release(token) };
                });
            });
            await_that("the holder", || inside.load(Ordering::Acquire) == 1);
            let stopped = holder.stop();
            get_away(&lock);
            let waiter = scope.spawn(|| behind.run(|| pass(&lock)));
            behind.await_wait();
            assert!(!waiter.is_finished());
            inside.store(2, Ordering::Release);
            drop(stopped);
        });
        pass(&lock);
    }
}
