//! The effect of one thread that does not run for 50 ms on the others, as the mutex's page describes it. The
//! criterion is never how fast the others are, but whether they come through while it is stopped. (Counters
//! and leaders: `liveness_events.rs`; the other locks: `crates/locks/tests/liveness.rs`; combining:
//! `crates/combining/tests/liveness.rs`.)
// ThreadSanitizer delivers signals late, so a thread could not be stopped where it is.
#![cfg(not(any(loom, tsan)))]

mod stopped;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::clock;
use heddle_sync::mutex::Mutex;
use heddle_sync::{RawLock, TimedLock, WaitPolicy};
use stopped::acquiring::{
    ANYWHERE, Moment::Waiting, POLICIES, TURNS, get_away_from_a_holder, go_on, pass, stop_a_waiter,
    stop_one_that_comes,
};
use stopped::{Stoppable, Watched, dear_yields, others, yields_in_vain};

#[test]
fn mutex() {
    for policy in POLICIES {
        for moment in ANYWHERE {
            let lock = Mutex::<Watched>::new(policy);
            stop_a_waiter(&lock, moment, || go_on(&lock, 1));
        }
    }
    get_away_from_a_holder(Mutex::<Watched>::new);
}

/// A waiter that sleeps relies on one that is awake; if that one does not run, a release now and then wakes
/// it.
#[test]
fn a_mutex_wakes_sleepers_behind_one_that_is_awake_and_does_not_run() {
    // Each yield may cost a computing thread's time slice, and then the sleeper sleeps.
    let lock = Mutex::<Watched>::new(WaitPolicy { yields: 2_000, ..WaitPolicy::DEFAULT });
    let sleeper = Stoppable::default();
    let slept = AtomicU32::new(0);
    lock.acquire();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            sleeper.run(|| pass(&lock));
            slept.store(1, Ordering::Release);
        });
        sleeper.await_sleep();
        stop_one_that_comes(
            &lock,
            (),
            || lock.acquire(),
            Waiting,
            || {
                others(1, "the sleeper to be served", || {
                    while slept.load(Ordering::Acquire) == 0 {
                        pass(&lock);
                    }
                });
            },
        );
    });
}

/// Beside threads that compute, the last holder gives no time slices away for a waiter that does not run.
#[test]
fn a_mutex_goes_on_without_yields_that_are_dear() {
    let lock = Mutex::<Watched>::new(WaitPolicy { forced_yield_ns: 1, ..POLICIES[0] });
    let yields = AtomicU32::new(u32::MAX);
    stop_a_waiter(&lock, Waiting, || {
        others(1, "the last holder to go on", || {
            yields.store(dear_yields(|| (0..TURNS).for_each(|_| pass(&lock))), Ordering::Relaxed);
        });
    });
    // One may slip in wherever the thread is stopped just before its spin is over.
    assert!(yields.into_inner() <= TURNS);
}

/// The more threads wait, the more seldom each polls. And a thread that finds others waiting joins them at
/// once.
#[test]
fn waiters_of_a_mutex_know_how_many_they_are() {
    let policy = WaitPolicy { first_tries: u32::MAX, spin_ns: 0, yields: 20_000, ..WaitPolicy::DEFAULT };
    let lock = Mutex::<Watched>::new(policy);
    let crowd: [Stoppable; 4] = Default::default();
    let last = Stoppable::default();
    let in_ms = |ms: u64| clock::now_ns() + ms * 1_000_000;
    lock.acquire();
    std::thread::scope(|scope| {
        let stopped = crowd.each_ref().map(|waiter| {
            scope.spawn(|| {
                waiter.run(|| {
                    assert!(lock.acquire_until(in_ms(600_000)).is_some());
                    // SAFETY: acquired above.
                    unsafe { lock.release(()) };
                })
            });
            waiter.await_wait();
            waiter.stop()
        });
        // On a busy machine the time may be up before a wait has had all its yields.
        let mut of_the_fifth = [100, 1_000, 10_000]
            .into_iter()
            .map(|ms| yields_in_vain(|| assert!(lock.acquire_until(in_ms(ms)).is_none())));
        let yields = of_the_fifth.find(|yields| *yields >= 2 * policy.yields);
        assert_eq!(yields, Some(2 * policy.yields), "two yields between polls, then it sleeps");
        scope.spawn(|| last.run(|| pass(&lock)));
        last.await_sleep();
        drop(stopped);
        // SAFETY: acquired above.
        unsafe { lock.release(()) };
    });
}
