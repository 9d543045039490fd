//! The effect of one thread that does not run for 50 ms on the others, lock by lock, as the locks' pages
//! describe it. The criterion is never how fast the others are, but whether they come through while it is
//! stopped. (The mutex: `crates/sync/tests/liveness.rs`; combining: `crates/combining/tests/liveness.rs`.)
// ThreadSanitizer delivers signals late, so a thread could not be stopped where it is.
#![cfg(not(any(loom, tsan)))]

#[path = "../../sync/tests/stopped/mod.rs"]
mod stopped;

use heddle_locks::abortable_mcs::{AbortableMcs, StrictAbortableMcs};
use heddle_locks::clh::{Clh, StrictClh};
use heddle_locks::hmcs::{Hmcs, StrictHmcs, Tree};
use heddle_locks::mcs::{Mcs, StrictMcs};
use heddle_locks::ticket::{StrictTicket, Ticket};
use heddle_locks::{Biased, CoreBiased, TwoLevel};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{clock, core_claim};
use heddle_sync::mutex::Mutex;
use heddle_sync::{RawLock, TimedLock, WaitPolicy};
use stopped::acquiring::{
    ANYWHERE, Moment::Waiting, POLICIES, get_away, get_away_from_a_holder, go_on, pass, stop_a_waiter,
    stop_one_that_comes,
};
use stopped::{Stoppable, Watched, imagine_place, others};

/// A waiter that never sleeps.
const AWAKE: WaitPolicy = WaitPolicy { yields: u32::MAX, ..WaitPolicy::DEFAULT };

/// Waiters that are stopped when their turn has come.
fn get_away_from_a_waiter<L: TimedLock>(make: impl Fn(WaitPolicy) -> L) {
    for policy in POLICIES {
        let lock = make(policy);
        stop_a_waiter(&lock, Waiting, || get_away(&lock));
    }
}

#[test]
fn ticket() {
    get_away_from_a_waiter(StrictTicket::<Watched>::new);
    get_away_from_a_holder(StrictTicket::<Watched>::new);
}

#[test]
fn clh() {
    get_away_from_a_waiter(StrictClh::<Watched>::new);
    get_away_from_a_holder(StrictClh::<Watched>::new);
}

/// In an order without deadlines those behind wait, and go on with it.
#[test]
fn mcs() {
    for policy in POLICIES {
        let (lock, behind) = (StrictMcs::<Watched>::new(policy), Stoppable::default());
        std::thread::scope(|scope| {
            stop_a_waiter(&lock, Waiting, || {
                let waiter = scope.spawn(|| behind.run(|| pass(&lock)));
                behind.await_wait();
                assert!(lock.try_acquire().is_none());
                assert!(!waiter.is_finished());
            });
        });
    }
}

/// A release that comes upon a thread between its two first steps takes no harm from it.
#[test]
fn no_release_of_these_waits_for_a_thread_stopped_anywhere() {
    for policy in POLICIES {
        for moment in ANYWHERE {
            let lock = StrictTicket::<Watched>::new(policy);
            stop_a_waiter(&lock, moment, || {});
            let lock = StrictClh::<Watched>::new(policy);
            stop_a_waiter(&lock, moment, || {});
        }
    }
}

#[test]
fn hmcs() {
    for tree in [Tree::flat(), Tree::balanced(&[2, 2], 1), Tree::balanced(&[2, 2, 2], 1)] {
        get_away_from_a_waiter(|policy| StrictHmcs::<Watched>::new(&tree, policy));
        get_away_from_a_holder(|policy| StrictHmcs::<Watched>::new(&tree, policy));
    }
}

/// A cohort that has had its turns hands on the lead of the cohort, not the lock: a new leader that does not
/// run delays only its cohort. Before, it hands on the lock, and so delays all threads.
#[test]
fn hmcs_after_a_cohorts_last_turn() {
    for policy in POLICIES {
        for (threshold, is_last_turn) in [(1, true), (2, false)] {
            let tree = Tree::balanced(&[2], 1).with_thresholds(&[threshold]);
            let lock = StrictHmcs::<Watched>::new(&tree, policy);
            let gets_in = |cohort| {
                imagine_place(cohort);
                let token = lock.acquire_until(clock::now_ns() + 100_000);
                // SAFETY: acquired above.
                token.map(|token| unsafe { lock.release(token) }).is_some()
            };
            imagine_place(0);
            let holder = lock.acquire();
            let acquire = || {
                imagine_place(0);
                lock.acquire()
            };
            stop_one_that_comes(&lock, holder, acquire, Waiting, || {
                others(3, "those with deadlines in its cohort", || assert!(!gets_in(0)));
                others(1, "the other cohort", || assert_eq!(gets_in(1), is_last_turn, "{threshold}"));
            });
        }
    }
}

#[test]
fn abortable_mcs() {
    let awake = StrictAbortableMcs::<Watched>::new(AWAKE);
    let asleep = StrictAbortableMcs::<Watched>::new(WaitPolicy::PARK_AT_ONCE);
    stop_a_waiter(&awake, Waiting, || go_on(&awake, 3));
    // Nobody can say of one that sleeps that it would not wake up.
    stop_a_waiter(&asleep, Waiting, || get_away(&asleep));
    get_away_from_a_waiter(|policy| StrictAbortableMcs::<Watched>::with_patience(policy, None));
    get_away_from_a_holder(StrictAbortableMcs::<Watched>::new);
}

/// The head of a queue behind a word: arrivals go past it, also when the lock has been reserved for it.
fn goes_past_the_head<L: RawLock>(make: impl Fn(WaitPolicy) -> L) {
    let for_ever = WaitPolicy { forced_yield_ns: u64::MAX >> 20, ..AWAKE };
    for policy in POLICIES.into_iter().chain([for_ever]) {
        let lock = make(policy);
        stop_a_waiter(&lock, Waiting, || {
            others(1, "the other to go past", || (0..200_000).for_each(|_| pass(&lock)));
        });
    }
}

#[test]
fn a_word_before_the_queue() {
    goes_past_the_head(Mcs::<Watched>::new);
    goes_past_the_head(Clh::<Watched>::new);
    goes_past_the_head(Ticket::<Watched>::new);
    goes_past_the_head(AbortableMcs::<Watched>::new);
    goes_past_the_head(|policy| Hmcs::<Watched>::new(&Tree::balanced(&[2, 2], 1), policy));
    get_away_from_a_holder(Clh::<Watched>::new);
    get_away_from_a_holder(AbortableMcs::<Watched>::new);
}

/// Without turns the word is not used.
#[test]
fn a_strict_policy_keeps_the_order() {
    get_away_from_a_waiter(|policy| Clh::<Watched>::new(WaitPolicy { forced_yield_ns: 0, ..policy }));
}

/// The thread that takes the bias away holds the lock below.
#[test]
fn biased() {
    for policy in POLICIES {
        let lock = Biased::with_streak(Mutex::<Watched>::new(policy), policy, 1);
        pass(&lock);
        stop_a_waiter(&lock, Waiting, || {
            assert!(lock.try_acquire().is_none());
        });
        // On a slow machine the bias was old enough to come back to this thread:
        // another thread takes it away.
        others(1, "another thread to come through", || pass(&lock));
        // One that waits for the lock below is in nobody's way: it is the mutex's waiter.
        let token = lock.acquire();
        assert!(token.is_some(), "the bias is not this thread's");
        stop_one_that_comes(&lock, token, || lock.acquire(), Waiting, || go_on(&lock, 1));
    }
}

/// The same with a bias to a core: a stopped revoker holds the lock below, and a holder that is stopped, on
/// whichever core, keeps all others out until it goes on.
#[test]
fn core_biased() {
    for policy in POLICIES {
        let make = || CoreBiased::with_streak(Mutex::<Watched>::new(policy), policy, 1);
        if core_claim::is_supported() {
            let lock = make();
            // By the bias: a thread that was moved to another core meanwhile comes through the mutex,
            // whose waiter holds nothing.
            let token = loop {
                match lock.acquire() {
                    None => break None,
                    // SAFETY: acquired here.
                    token => unsafe { lock.release(token) },
                }
            };
            let meanwhile = || assert!(lock.try_acquire().is_none());
            stop_one_that_comes(&lock, token, || lock.acquire(), Waiting, meanwhile);
        }
        for moment in ANYWHERE {
            // Stopped outside, or where it waits for the flag or for the mutex:
            // afterwards it has come through.
            stop_a_waiter(&make(), moment, || {});
        }
    }
}

/// A thread that is stopped while it enters by the bias stops nobody: its claim fails when it goes on.
#[test]
fn core_biased_entries_that_are_stopped() {
    let lock = CoreBiased::with_streak(Mutex::<Watched>::new(AWAKE), AWAKE, 1);
    let (entering, is_over) = (Stoppable::default(), AtomicU32::new(0));
    let is_inside = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            entering.run(|| {
                while is_over.load(Ordering::Relaxed) == 0 {
                    let token = lock.acquire();
                    is_inside.store(1, Ordering::Relaxed);
                    is_inside.store(0, Ordering::Relaxed);
                    // SAFETY: acquired above.
                    unsafe { lock.release(token) };
                }
            });
        });
        for _ in 0..10 {
            let stopped = entering.stop();
            // Inside of the lock it keeps others out; everywhere else they come and go.
            if let Some(token) = lock.try_acquire() {
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
                assert_eq!(is_inside.load(Ordering::Relaxed), 0);
                go_on(&lock, 2);
            }
            drop(stopped);
        }
        is_over.store(1, Ordering::Relaxed);
    });
    pass(&lock);
}

type Two = TwoLevel<StrictAbortableMcs<Watched>, StrictAbortableMcs<Watched>>;

fn two_level(policy: WaitPolicy, low_bound: u32) -> Two {
    let below = || StrictAbortableMcs::with_patience(policy, None);
    TwoLevel::with_low_bound(below(), below(), policy, low_bound)
}

/// The head of the low class does not run: the high class does not notice, and arrivals of the low class go
/// past it, also when the lock has been reserved for it.
#[test]
fn both_classes_go_past_a_low_waiter() {
    for policy in POLICIES {
        let lock = two_level(policy, u32::MAX);
        let token = lock.acquire_high();
        stop_one_that_comes(
            &lock,
            token,
            || lock.acquire_low(),
            Waiting,
            || {
                go_on(&lock, 3);
                others(1, "the low class to go past", || {
                    (0..200_000).for_each(|_| {
                        let token = lock.acquire_low();
                        // SAFETY: acquired above.
                        unsafe { lock.release(token) };
                    });
                });
                go_on(&lock, 1);
            },
        );
    }
}

/// After the bound the filter is kept for it: then all wait, and a waiter with a deadline gives up.
#[test]
fn the_bound_keeps_the_filter_for_a_low_waiter_that_does_not_run() {
    const BOUND: usize = 5;
    for policy in POLICIES {
        let lock = two_level(policy, BOUND as u32);
        let token = lock.acquire_high();
        stop_one_that_comes(
            &lock,
            token,
            || lock.acquire_low(),
            Waiting,
            || {
                let enter = || {
                    let token = lock.acquire_high_until(clock::now_ns() + 1_000_000);
                    // SAFETY: acquired above.
                    token.map(|token| unsafe { lock.release(token) })
                };
                // The first was the one that held it.
                assert_eq!((0..2 * BOUND).filter_map(|_| enter()).count(), BOUND - 1);
                get_away(&lock);
                assert!(lock.acquire_low_until(clock::now_ns() + 100_000).is_none());
            },
        );
        assert_eq!(lock.bound_reached(), 1);
    }
}

/// The head of the high class does not run: its class goes past it, the low class waits for it.
#[test]
fn a_high_waiter_that_does_not_run_stops_the_low_class() {
    for policy in POLICIES {
        let lock = two_level(policy, 256);
        let token = lock.acquire_low();
        stop_one_that_comes(
            &lock,
            token,
            || lock.acquire_high(),
            Waiting,
            || {
                others(1, "the high class to go past", || (0..200_000).for_each(|_| pass(&lock)));
                assert!(lock.acquire_low_until(clock::now_ns() + 100_000).is_none());
                assert!(lock.try_acquire_low().is_none());
                pass(&lock);
            },
        );
    }
}
