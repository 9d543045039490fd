//! HMCS under the model checker: its queue alone, with and without time-outs, then the lock with its door; and each
//! fault is found.
//!
//! The clock stands still in a model, at 0: a deadline of 0 is always past, so who has one waits for nothing, but may
//! still be granted what it is about to abandon.
#![cfg(loom)]

mod model;

use heddle_sync::fault::Fault;
use heddle_sync::hmcs::{Hmcs, Queue, Tree};
use heddle_sync::{Lock, Native, RawLock, TimedLock, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{DEADLOCK, RACE, explore, must_fail};

/// What loom says of a thread that waits for something that never comes, without sleeping.
const ENDLESS: &str = "exceeded maximum number of branches";

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

/// Threads 0, 1, ... each add one at each step that gets the lock. All is over when all have ended: so a waiter that was
/// forgotten is a deadlock, and two threads inside are a race.
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
        assert!(!sum.has_waiters(), "nobody is left");
        assert_eq!(*sum.acquire(), added);
        assert!(sum.try_acquire().is_some(), "free when everybody is gone");
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

fn queue(tree: Tree, policy: WaitPolicy) -> impl Fn() -> Queue<Native> + Sync + Send + 'static {
    move || Queue::new(&tree, policy)
}

fn whole(tree: Tree, policy: WaitPolicy) -> impl Fn() -> Hmcs<Native> + Sync + Send + 'static {
    move || Hmcs::new(&tree, policy)
}

mod queue_alone {
    use super::*;

    #[test]
    fn one_cohort_two_threads() {
        explore(Some(3), add(queue(Tree::flat(), PARK), &[&[Wait, Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_two_threads() {
        explore(None, add(queue(apart(), PARK), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_two_threads_twice() {
        explore(Some(3), add(queue(apart(), PARK), &[&[Wait, Wait], &[Wait, Wait]]));
    }

    #[test]
    fn passing_within_a_cohort() {
        explore(None, add(queue(two_and_one(2), PARK), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_three_threads() {
        explore(Some(2), add(queue(two_and_one(2), PARK), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn two_cohorts_three_threads_that_never_pass() {
        explore(Some(2), add(queue(two_and_one(1), PARK), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn patient_waiters() {
        explore(Some(3), add(queue(two_and_one(2), ONE_YIELD), &[&[Wait], &[Wait]]));
    }
}

mod queue_with_time_out {
    use super::*;

    #[test]
    fn one_gives_up_and_comes_again() {
        explore(None, add(queue(Tree::flat(), PARK), &[&[Wait], &[GiveUp, Wait]]));
    }

    #[test]
    fn one_gives_up_in_the_cohort_around_and_comes_again() {
        explore(Some(4), add(queue(apart(), PARK), &[&[Wait], &[GiveUp, Wait]]));
    }

    #[test]
    fn both_give_up() {
        explore(Some(3), add(queue(apart(), PARK), &[&[Wait, GiveUp], &[GiveUp, Wait]]));
    }

    /// A leader gives up while another waits for the lead: that one takes up the cohort's abandoned place.
    #[test]
    fn an_abandoned_place_is_taken_up() {
        explore(Some(2), add(queue(two_and_one(2), PARK), &[&[GiveUp], &[Wait], &[Wait]]));
    }

    /// Somebody waits behind an abandoned node.
    #[test]
    fn behind_one_who_gave_up() {
        explore(Some(2), add(queue(Tree::flat(), PARK), &[&[Wait], &[GiveUp], &[Wait]]));
    }

    #[test]
    fn all_may_give_up() {
        explore(Some(2), add(queue(two_and_one(2), PARK), &[&[GiveUp, GiveUp], &[GiveUp], &[Wait]]));
    }

    #[test]
    fn tries() {
        explore(Some(3), add(queue(apart(), PARK), &[&[Wait, Try], &[Try, Wait]]));
    }
}

mod with_door {
    use super::*;

    #[test]
    fn two_threads() {
        explore(None, add(whole(Tree::flat(), PARK), &[&[Wait], &[Wait]]));
    }

    #[test]
    fn two_threads_and_two_cohorts() {
        explore(Some(4), add(whole(apart(), PARK), &[&[Wait], &[Wait]]));
    }

    /// Thrice, so that a thread comes back while the other waits until the door is reserved: tenures end at once here.
    #[test]
    fn two_threads_thrice() {
        explore(Some(2), add(whole(apart(), PARK), &[&[Wait, Wait, Wait], &[Wait]]));
    }

    #[test]
    fn three_threads() {
        explore(Some(2), add(whole(two_and_one(2), PARK), &[&[Wait], &[Wait], &[Wait]]));
    }

    #[test]
    fn giving_up() {
        explore(Some(3), add(whole(apart(), PARK), &[&[Wait, Wait], &[GiveUp, Wait]]));
    }

    #[test]
    fn one_of_three_gives_up() {
        explore(Some(2), add(whole(two_and_one(2), PARK), &[&[Wait], &[GiveUp], &[Wait]]));
    }

    #[test]
    fn tries() {
        explore(Some(3), add(whole(apart(), PARK), &[&[Wait, Try], &[Try, Wait]]));
    }

    /// What `has_waiters` tells the holder is true: the one it has seen enters afterwards.
    #[test]
    fn a_waiter_that_is_seen_comes() {
        explore(None, || {
            let lock = Arc::new(whole(Tree::flat(), PARK)());
            let entered = Arc::new(heddle_platform::cell::UnsafeCell::new(0));
            let other = {
                let (lock, entered) = (Arc::clone(&lock), Arc::clone(&entered));
                thread::spawn(move || {
                    lock.acquire();
                    // SAFETY: under the lock.
                    entered.with_mut(|entered| unsafe { *entered += 1 });
                    // SAFETY: acquired above.
                    unsafe { lock.release(()) };
                })
            };
            lock.acquire();
            // SAFETY: under the lock.
            let before = entered.with(|entered| unsafe { *entered });
            let seen = lock.has_waiters();
            assert!(!seen || before == 0, "the only other thread has been here already");
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
            other.join().expect("the other");
        });
    }
}

must_fail!(
    a_relaxed_pass_is_found,
    Some(Fault::HmcsRelaxedPass),
    RACE,
    add(queue(two_and_one(2), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    a_blind_way_to_sleep_is_found,
    Some(Fault::HmcsBlindPark),
    DEADLOCK,
    add(queue(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    blind_abandonment_is_found,
    Some(Fault::HmcsBlindAbandon),
    DEADLOCK,
    add(queue(Tree::flat(), PARK), &[&[Wait, Wait], &[GiveUp]])
);

must_fail!(
    a_blind_revival_is_found,
    Some(Fault::HmcsBlindRevival),
    ENDLESS,
    add(queue(apart(), PARK), &[&[Wait], &[GiveUp, Wait]])
);

must_fail!(
    an_early_hand_on_is_found,
    Some(Fault::HmcsEarlyHandOn),
    DEADLOCK,
    add(queue(two_and_one(1), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    an_impatient_end_is_found,
    Some(Fault::HmcsImpatientEnd),
    DEADLOCK,
    add(queue(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    a_relaxed_release_is_found,
    Some(Fault::HmcsRelaxedRelease),
    RACE,
    add(whole(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    a_missing_second_look_is_found,
    Some(Fault::HmcsWithoutSecondLook),
    DEADLOCK,
    add(whole(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    a_missing_heavy_fence_is_found,
    Some(Fault::HmcsWithoutHeavy),
    DEADLOCK,
    add(whole(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);

must_fail!(
    a_missing_light_fence_is_found,
    Some(Fault::HmcsWithoutLight),
    DEADLOCK,
    add(whole(Tree::flat(), PARK), &[&[Wait], &[Wait]])
);
