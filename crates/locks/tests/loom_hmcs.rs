//! HMCS under the model checker: in strict order without and with time-outs, and as it is by default, behind
//! a word; and each fault is found.
//!
//! The clock stands still in a model, at 0: a deadline of 0 is always past, so a thread with a deadline waits
//! for nothing, but may still be granted a place that it is about to abandon.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::Hmcs;
use heddle_locks::hmcs::{StrictHmcs, Tree};
use heddle_sync::{Lock, Native, RawLock, TimedLock, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

const PARK: WaitPolicy = WaitPolicy::PARK_AT_ONCE;
const ONE_YIELD: WaitPolicy = WaitPolicy { yields: 1, ..PARK };

/// What a thread of a model does, in order.
#[derive(Clone, Copy)]
enum Step {
    /// Acquires.
    Wait,
    /// Acquires or gives up at once.
    GiveUp,
    /// Tries.
    Try,
}
use Step::{GiveUp, Try, Wait};

/// Threads 0, 1, ... each add one at each step that gets the lock. All is over when all have ended: so a
/// waiter that was forgotten is a deadlock, and two threads inside are a race.
fn add<L: TimedLock<Platform = Native> + 'static>(
    lock: impl Fn() -> L + Sync + Send + 'static,
    threads: &'static [&'static [Step]],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = Arc::new(Lock::new(lock(), 0));
        let work = |sum: &Lock<L, u32>, steps: &[Step]| -> u32 {
            steps
                .iter()
                .map(|step| {
                    let guard = match step {
                        Wait => Some(sum.acquire()),
                        GiveUp => sum.acquire_until(0),
                        Try => sum.try_acquire(),
                    };
                    guard.map_or(0, |mut sum| {
                        *sum += 1;
                        1
                    })
                })
                .sum()
        };
        let others: Vec<_> = threads[1..]
            .iter()
            .map(|steps| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || work(&sum, steps))
            })
            .collect();
        let mut added = work(&sum, threads[0]);
        for other in others {
            added += other.join().expect("adder");
        }
        assert!(!sum.has_waiters(), "no thread is left");
        assert_eq!(*sum.acquire(), added);
        assert!(sum.try_acquire().is_some(), "free when all threads are gone");
    }
}

/// Each thread in a cohort of its own.
fn apart() -> Tree {
    Tree::balanced(&[3], 1).with_thresholds(&[1])
}

/// Threads 0 and 1 in one cohort, 2 in another; the cohort may keep the lock for `threshold` passes.
fn two_and_one(threshold: u32) -> Tree {
    Tree::balanced(&[2], 2).with_thresholds(&[threshold])
}

fn hmcs(tree: Tree, policy: WaitPolicy) -> impl Fn() -> StrictHmcs<Native> + Sync + Send + 'static {
    move || StrictHmcs::new(&tree, policy)
}

fn fissile(tree: Tree) -> impl Fn() -> Hmcs + Sync + Send + 'static {
    move || Hmcs::new(&tree, PARK)
}

mod without_time_out {
    use super::*;

    #[test]
    fn one_cohort_two_threads() {
        explore(Some(3), add(hmcs(Tree::flat(), PARK), &[&[Wait, Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_two_threads() {
        explore(None, add(hmcs(apart(), PARK), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_two_threads_twice() {
        explore(Some(3), add(hmcs(apart(), PARK), &[&[Wait, Wait], &[Wait, Wait]]));
    }

    #[test]
    fn passing_within_a_cohort() {
        explore(None, add(hmcs(two_and_one(2), PARK), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_three_threads() {
        explore(Some(2), add(hmcs(two_and_one(2), PARK), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_three_threads_that_never_pass() {
        explore(Some(2), add(hmcs(two_and_one(1), PARK), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn patient_waiters() {
        explore(Some(3), add(hmcs(two_and_one(2), ONE_YIELD), &[&[Wait], &[Wait]]));
    }
}

mod with_time_out {
    use super::*;

    #[test]
    fn one_gives_up_and_comes_again() {
        explore(Some(4), add(hmcs(Tree::flat(), PARK), &[&[Wait], &[GiveUp, Wait]]));
    }

    #[test]
    fn one_gives_up_in_the_cohort_around_and_comes_again() {
        explore(Some(4), add(hmcs(apart(), PARK), &[&[Wait], &[GiveUp, Wait]]));
    }

    #[test]
    fn both_give_up() {
        explore(Some(3), add(hmcs(apart(), PARK), &[&[Wait, GiveUp], &[GiveUp, Wait]]));
    }

    /// A leader gives up while another waits for the lead: that one takes up the cohort's abandoned place.
    #[test]
    fn an_abandoned_place_is_taken_up() {
        explore(Some(2), add(hmcs(two_and_one(2), PARK), &[&[GiveUp], &[Wait], &[Wait]]));
    }

    /// Somebody waits behind an abandoned node.
    #[test]
    fn behind_a_waiter_that_gave_up() {
        explore(Some(2), add(hmcs(Tree::flat(), PARK), &[&[Wait], &[GiveUp], &[Wait]]));
    }

    #[test]
    fn all_may_give_up() {
        explore(Some(2), add(hmcs(two_and_one(2), PARK), &[&[GiveUp, GiveUp], &[GiveUp], &[Wait]]));
    }

    #[test]
    fn tries() {
        explore(Some(3), add(hmcs(apart(), PARK), &[&[Wait, Try], &[Try, Wait]]));
    }
}

mod below_fissile {
    use super::*;

    #[test]
    fn two_threads_and_two_cohorts() {
        explore(Some(3), add(fissile(apart()), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn three_threads() {
        explore(Some(2), add(fissile(two_and_one(2)), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn giving_up() {
        explore(Some(2), add(fissile(apart()), &[&[Wait, Wait], &[GiveUp, Wait]]));
    }
}

/// `has_waiters` tells the holder the truth: a waiter that it has seen enters afterwards.
#[test]
fn a_waiter_that_is_seen_comes() {
    explore(Some(4), || {
        let lock = Arc::new(hmcs(apart(), PARK)());
        let entries = Arc::new(heddle_platform::cell::UnsafeCell::new(0));
        // SAFETY: each use is under the lock.
        let enter =
            |entries: &heddle_platform::cell::UnsafeCell<u32>| entries.with_mut(|n| unsafe { *n += 1 });
        let other = {
            let (lock, entries) = (Arc::clone(&lock), Arc::clone(&entries));
            thread::spawn(move || {
                let token = lock.acquire();
                enter(&entries);
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
            })
        };
        let token = lock.acquire();
        // SAFETY: under the lock.
        let before = entries.with(|entries| unsafe { *entries });
        assert!(!lock.has_waiters() || before == 0, "the only other thread has been here already");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        other.join().expect("the other");
    });
}

with_fault!(a_relaxed_pass_is_found, add(hmcs(two_and_one(2), PARK), &[&[Wait], &[Wait]]));

with_fault!(a_blind_way_to_sleep_is_found, add(hmcs(Tree::flat(), PARK), &[&[Wait], &[Wait]]));

with_fault!(blind_abandonment_is_found, add(hmcs(Tree::flat(), PARK), &[&[Wait, Wait], &[GiveUp]]));

with_fault!(a_blind_revival_is_found, add(hmcs(apart(), PARK), &[&[Wait], &[GiveUp, Wait]]));

with_fault!(an_early_hand_on_is_found, add(hmcs(two_and_one(1), PARK), &[&[Wait], &[Wait]]));

with_fault!(an_impatient_end_is_found, add(hmcs(Tree::flat(), PARK), &[&[Wait], &[Wait]]));
