//! The effect of one thread that does not run for 50 ms on the others, for counters and leaders, as their
//! pages describe it. See `liveness.rs`.
// ThreadSanitizer delivers signals late, so a thread could not be stopped where it is.
#![cfg(not(any(loom, tsan)))]

mod stopped;

use heddle_platform::atomic::{AtomicPtr, AtomicU32, Ordering};
use heddle_platform::{Platform, clock};
use heddle_sync::WaitPolicy;
use heddle_sync::leader::{Leadership, Progress};
use heddle_sync::sync_counter::{SyncCounter, Wake};
use std::ptr;
use stopped::{Stoppable, Watched, await_that, others};

/// A waiter that is awake for long, and one that sleeps.
const POLICIES: [WaitPolicy; 2] =
    [WaitPolicy { yields: 100_000, ..WaitPolicy::DEFAULT }, WaitPolicy::PARK_AT_ONCE];
/// How often each of the others comes while one is stopped.
const TURNS: u64 = 500;
const OTHERS: u64 = 3;

fn counter(events: u32) -> SyncCounter<Watched> {
    SyncCounter::new(events)
}

fn soon() -> Option<u64> {
    Some(clock::now_ns() + 100_000)
}

/// A counter's waiter delays no other thread; a signaller that does not run delays only the waiter for its
/// event.
#[test]
fn counters() {
    for policy in POLICIES {
        let (waiter, signaller) = (Stoppable::default(), Stoppable::default());
        let (waited_for, own, go) = (counter(3), counter(2), AtomicU32::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| waiter.run(|| waited_for.wait(&policy)));
            waiter.await_wait();
            let stopped = waiter.stop();
            others(3, "the signals", || {
                waited_for.signal();
            });
            assert_eq!(waited_for.missing(), 0);
            drop(stopped);

            scope.spawn(|| {
                signaller.run(|| {
                    await_that("the word", || go.load(Ordering::Acquire) == 1);
                    own.signal();
                });
            });
            let stopped = signaller.stop();
            go.store(1, Ordering::Release);
            others(1, "the other signaller", || {
                own.signal();
            });
            assert_eq!(own.wait_until(&policy, soon()), Wake::TimedOut);
            drop(stopped);
            own.wait(&policy);
        });
    }
}

/// Events that the next poll completes.
#[derive(Default)]
struct Network {
    asked: [AtomicPtr<SyncCounter<Watched>>; 4],
}

impl Network {
    fn ask(&self, counter: &SyncCounter<Watched>) {
        let counter = ptr::from_ref(counter).cast_mut();
        let place = |place: &&AtomicPtr<_>| {
            place.compare_exchange(ptr::null_mut(), counter, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        self.asked.iter().find(place).expect("a free place");
    }
}

impl Progress for Network {
    fn poll(&self) -> bool {
        let mut anything = false;
        for place in &self.asked {
            // SAFETY: its thread waits for this signal.
            if let Some(counter) = unsafe { place.swap(ptr::null_mut(), Ordering::AcqRel).as_ref() } {
                counter.signal();
                anything = true;
            }
        }
        anything
    }

    fn idle(&self, _: Option<u64>) {
        Watched::yield_now();
    }
}

/// The leader does not run: no thread polls for the others, but events that come by themselves wake their
/// sleepers, a waiter with a deadline gives up, and any thread may poll.
#[test]
fn a_leader() {
    for policy in POLICIES {
        let (network, leadership) = (Network::default(), Leadership::<Watched>::new(policy));
        let (leader, sleeper) = (Stoppable::default(), Stoppable::default());
        let (of_leader, of_sleeper, of_poller) = (counter(1), counter(1), counter(1));
        std::thread::scope(|scope| {
            scope.spawn(|| leader.run(|| leadership.wait(&of_leader, &network, None)));
            leader.await_wait();
            let stopped = leader.stop();
            assert!(!leadership.wait(&counter(1), &network, soon()));

            let waits = scope.spawn(|| sleeper.run(|| leadership.wait(&of_sleeper, &network, None)));
            sleeper.await_wait();
            of_sleeper.signal();
            await_that("the sleeper", || waits.is_finished());

            network.ask(&of_poller);
            network.poll();
            assert!(leadership.wait(&of_poller, &network, None));
            drop(stopped);
            of_leader.signal();
        });
        assert!(leadership.wait(&asked(&network), &network, None), "the role is free again");
    }
}

fn asked(network: &Network) -> Box<SyncCounter<Watched>> {
    let counter = Box::new(counter(1));
    network.ask(&counter);
    counter
}

/// A sleeper does not run: the leader serves all others. It delays them when it has been given the role,
/// except those with deadlines.
#[test]
fn a_sleeper() {
    for policy in POLICIES {
        let (network, leadership) = (Network::default(), Leadership::<Watched>::new(policy));
        let (leader, sleeper) = (Stoppable::default(), Stoppable::default());
        let (of_leader, of_sleeper) = (counter(1), counter(1));
        std::thread::scope(|scope| {
            let leads = scope.spawn(|| leader.run(|| leadership.wait(&of_leader, &network, None)));
            leader.await_wait();
            scope.spawn(|| sleeper.run(|| leadership.wait(&of_sleeper, &network, None)));
            sleeper.await_wait();
            let stopped = sleeper.stop();
            others(OTHERS as usize, "the leader to serve the others", || {
                for _ in 0..TURNS {
                    assert!(leadership.wait(&asked(&network), &network, None));
                }
            });
            of_leader.signal();
            await_that("the leader to leave", || leads.is_finished());
            // Appointed.
            assert!(!leadership.wait(&counter(1), &network, soon()));
            drop(stopped);
            // It leads now.
            assert!(leadership.wait(&asked(&network), &network, None));
            of_sleeper.signal();
        });
    }
}
