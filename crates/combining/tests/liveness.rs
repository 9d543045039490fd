//! The effect of one thread that does not run for 50 ms on the others, as the pages of the algorithms
//! describe it. See `crates/locks/tests/liveness.rs`.
// ThreadSanitizer delivers signals late, so a thread could not be stopped where it is.
#![cfg(not(any(loom, tsan)))]

#[path = "../../sync/tests/stopped/mod.rs"]
mod stopped;

use heddle_combining::dsm_synch::DsmSynch;
use heddle_combining::offload::Offload;
use heddle_combining::{Combining, LockQueue};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{hint, thread};
use heddle_sync::WaitPolicy;
use heddle_sync::mutex::Mutex;
use stopped::{Stoppable, Watched, await_that, others};

/// A waiter that is awake for long, and one that sleeps. (Not for good: a mutex's last holder spends all its
/// yields on waiters that do not run.)
const POLICIES: [WaitPolicy; 2] =
    [WaitPolicy { yields: 100_000, ..WaitPolicy::DEFAULT }, WaitPolicy::PARK_AT_ONCE];
/// After how many spin hints a thread is stopped that began to call; `None`: when it waits.
const MOMENTS: [Option<u32>; 8] =
    [None, Some(0), Some(2), Some(5), Some(10), Some(30), Some(100), Some(1_000)];
/// How often each of the others comes while one is stopped.
const TURNS: u64 = 500;
const OTHERS: u64 = 3;

/// While a thread's operation runs, another thread calls, by `call`, and is stopped. The others come through.
fn stop_a_caller<C: Combining<u64>>(sum: &C, moment: Option<u32>, call: impl Fn(&C) + Sync) {
    let (caller, end) = (Stoppable::default(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let (begun, leave) = (AtomicU32::new(0), AtomicU32::new(0));
        let (begun, leave, end, caller, call) = (&begun, &leave, &end, &caller, &call);
        std::thread::scope(|inner| {
            inner.spawn(move || {
                sum.run(|_| {
                    begun.store(1, Ordering::Release);
                    while leave.load(Ordering::Acquire) == 0 {
                        thread::yield_now();
                    }
                });
            });
            await_that("an operation to begin", || begun.load(Ordering::Acquire) == 1);
            scope.spawn(move || {
                caller.run(|| {
                    call(sum);
                    await_that("the end", || end.load(Ordering::Acquire) == 1);
                });
            });
            match moment {
                None => caller.await_wait(),
                Some(hints) => {
                    caller.await_begin();
                    (0..hints).for_each(|_| hint::spin_loop());
                }
            }
            let stopped = caller.stop();
            leave.store(1, Ordering::Release);
            others(OTHERS as usize, "the others' operations", || {
                (0..TURNS).for_each(|_| sum.run(|sum| *sum += 1));
            });
            drop(stopped);
            end.store(1, Ordering::Release);
        });
    });
    assert_eq!(sum.run(|sum| *sum), OTHERS * TURNS + 1);
}

#[test]
fn a_waiting_owner_under_dsm_synch() {
    for policy in POLICIES {
        let sum = DsmSynch::<u64, Watched>::new(0, 64, policy);
        stop_a_caller(&sum, None, |sum| sum.run(|sum| *sum += 1));
    }
}

#[test]
fn a_caller_of_a_lock_queue_anywhere() {
    for policy in POLICIES {
        for moment in MOMENTS {
            let make = || LockQueue::new(Mutex::<Watched>::new(policy), 0, 64, policy);
            stop_a_caller(&make(), moment, |sum| sum.run(|sum| *sum += 1));
            // A poster waits for nothing.
            stop_a_caller(&make(), moment.or(Some(3)), |sum| sum.post(|sum| *sum += 1));
        }
    }
}

#[test]
fn a_caller_of_an_offload_anywhere() {
    for policy in POLICIES {
        for moment in MOMENTS {
            let sum = Offload::<u64, Watched>::new(0, policy);
            std::thread::scope(|scope| {
                scope.spawn(|| sum.serve(|_| false));
                stop_a_caller(&sum, moment, |sum| sum.run(|sum| *sum += 1));
                sum.close();
            });
        }
    }
}

/// Posts go on while the serving thread is stopped; they are run when it goes on.
#[test]
fn the_serving_thread_of_an_offload() {
    for policy in POLICIES {
        let (sum, server) = (Offload::<u64, Watched>::new(0, policy), Stoppable::default());
        std::thread::scope(|scope| {
            scope.spawn(|| server.run(|| sum.serve(|_| false)));
            server.await_wait();
            let stopped = server.stop();
            others(2, "posts to be accepted", || (0..20).for_each(|_| sum.post(|sum| *sum += 1)));
            drop(stopped);
            assert_eq!(sum.run(|sum| *sum), 40);
            sum.close();
        });
    }
}
