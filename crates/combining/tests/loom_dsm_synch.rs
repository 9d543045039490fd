//! DSM-Synch under the model checker: every operation once, its result to its owner, order and hand-over; and
//! each fault is found.
#![cfg(loom)]

use heddle_combining::{Combining, DsmSynch};
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_sync::WaitPolicy;
use loom::sync::Arc;
use loom::thread;

/// `threads` threads draw numbers, `times` times each: all different, each thread's rising.
fn draw(limit: u32, policy: WaitPolicy, threads: u32, times: u32) -> impl Fn() + Sync + Send + 'static {
    draw_from(move || DsmSynch::new(0_u32, limit, policy), threads, times)
}

/// Does the same as [`draw`], with every operation in the queue.
fn draw_queued(
    limit: u32,
    policy: WaitPolicy,
    threads: u32,
    times: u32,
) -> impl Fn() + Sync + Send + 'static {
    draw_from(move || DsmSynch::always_queued(0_u32, limit, policy), threads, times)
}

fn draw_from(
    counter: impl Fn() -> DsmSynch<u32> + Sync + Send + 'static,
    threads: u32,
    times: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let counter = Arc::new(counter());
        let work = move |counter: &DsmSynch<u32>| {
            let mut last = 0;
            for _ in 0..times {
                let step = 1;
                let mine = counter.run(|number| {
                    *number += step;
                    *number
                });
                assert!(mine > last, "out of order");
                last = mine;
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || work(&counter))
            })
            .collect();
        work(&counter);
        for other in others {
            other.join().expect("drawer");
        }
        assert_eq!(counter.run(|number| *number), threads * times);
    }
}

const ONE_YIELD: WaitPolicy = WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE };

#[test]
fn two_threads_once() {
    explore(None, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));
}

#[test]
fn two_threads_twice() {
    explore(Some(3), draw(64, WaitPolicy::PARK_AT_ONCE, 2, 2));
}

#[test]
fn two_threads_twice_with_a_yield() {
    explore(Some(2), draw(64, ONE_YIELD, 2, 2));
}

/// With a limit of 1 no thread combines and every turn is handed over.
#[test]
fn two_threads_hand_over() {
    explore(Some(3), draw(1, WaitPolicy::PARK_AT_ONCE, 2, 2));
}

#[test]
fn three_threads() {
    explore(Some(2), draw(64, WaitPolicy::PARK_AT_ONCE, 3, 1));
}

/// The combiner runs one other operation and hands on to the third.
#[test]
fn three_threads_with_a_limit_of_two() {
    explore(Some(2), draw(2, WaitPolicy::PARK_AT_ONCE, 3, 1));
}

#[test]
fn two_threads_once_in_the_queue() {
    explore(Some(2), draw_queued(64, WaitPolicy::PARK_AT_ONCE, 2, 1));
}

#[test]
fn two_threads_twice_in_the_queue() {
    explore(Some(2), draw_queued(64, WaitPolicy::PARK_AT_ONCE, 2, 2));
}

#[test]
fn two_threads_hand_over_in_the_queue() {
    explore(Some(1), draw_queued(1, WaitPolicy::PARK_AT_ONCE, 2, 2));
}

#[test]
fn three_threads_in_the_queue() {
    explore(Some(1), draw_queued(2, WaitPolicy::PARK_AT_ONCE, 3, 1));
}

#[test]
fn a_try_runs_or_leaves_no_trace() {
    explore(None, || {
        let counter = Arc::new(DsmSynch::new(0_u32, 64, WaitPolicy::PARK_AT_ONCE));
        let other = Arc::clone(&counter);
        let other = thread::spawn(move || other.try_run(|number| *number += 1).is_ok());
        counter.run(|number| *number += 1);
        let tried = other.join().expect("trier");
        assert_eq!(counter.run(|number| *number), 1 + u32::from(tried));
    });
}

with_fault!(an_unpublished_request_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 3, 1));

with_fault!(an_ignored_newcomer_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 3, 1));

with_fault!(a_role_that_nobody_gets_is_found, draw(1, WaitPolicy::PARK_AT_ONCE, 3, 1));

with_fault!(a_result_that_is_not_taken_along_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_value_that_is_not_taken_along_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_head_that_does_not_call_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_call_that_is_not_checked_for_in_order_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_head_that_is_served_twice_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_reservation_nobody_takes_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 2));

with_fault!(a_sleep_without_a_last_check_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_sleeper_without_its_fence_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));

with_fault!(a_combiner_without_its_fence_is_found, draw(64, WaitPolicy::PARK_AT_ONCE, 2, 1));
