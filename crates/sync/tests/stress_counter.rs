//! Counters and leaders on real threads: every wait ends by its own events, whichever thread completes them.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::{clock, thread};
use heddle_sync::leader::Progress;
use heddle_sync::sync_counter::Wake;
use heddle_sync::{Doorbell, Leadership, Scope, SyncCounter, WaitPolicy};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

const POLICIES: [WaitPolicy; 3] =
    [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE, WaitPolicy { park: false, ..WaitPolicy::DEFAULT }];

/// A counter on the waiter's stack, signalled by many: it is gone as soon as the wait ends.
#[test]
fn counters_on_the_stack() {
    const ROUNDS: u64 = 400;
    const COMPLETERS: u32 = 4;
    for policy in POLICIES {
        let (round, lasts) = (AtomicU64::new(0), AtomicU64::new(0));
        let place = Mutex::new(0_usize);
        std::thread::scope(|scope| {
            for _ in 0..COMPLETERS {
                scope.spawn(|| {
                    for number in 1..=ROUNDS {
                        while round.load(Ordering::Acquire) < number {
                            thread::yield_now();
                        }
                        let counter = *place.lock().expect("not poisoned");
                        let counter = std::ptr::with_exposed_provenance::<SyncCounter>(counter);
                        // SAFETY: alive until it has been signalled by all.
                        let counter = unsafe { &*counter };
                        lasts.fetch_add(u64::from(counter.signal()), Ordering::Relaxed);
                    }
                });
            }
            for number in 1..=ROUNDS {
                let counter = SyncCounter::new(COMPLETERS);
                *place.lock().expect("not poisoned") = (&raw const counter).expose_provenance();
                round.store(number, Ordering::Release);
                // Some waits have short deadlines in between, which must not disturb the count.
                while number.is_multiple_of(3)
                    && counter.wait_until(&policy, Some(clock::now_ns() + 20_000)) == Wake::TimedOut
                {
                }
                counter.wait(&policy);
                assert!(counter.is_done());
            }
        });
        assert_eq!(lasts.load(Ordering::Relaxed), ROUNDS, "one signal of each round is the last");
    }
}

/// A network: requested events come in some order, each when a thread polls.
struct Network {
    leadership: Leadership,
    asked: Mutex<VecDeque<usize>>,
    polled_by: AtomicBool,
    doorbell: Doorbell,
}

impl Network {
    fn new(policy: WaitPolicy) -> Self {
        Self {
            leadership: Leadership::new(policy),
            asked: Mutex::new(VecDeque::new()),
            polled_by: AtomicBool::new(false),
            doorbell: Doorbell::new(),
        }
    }

    fn ask(&self, counter: &SyncCounter) {
        self.asked.lock().expect("not poisoned").push_back(std::ptr::from_ref(counter).expose_provenance());
        self.doorbell.ring(Scope::Process);
    }

    /// Completes an event, the newest one now and then.
    fn complete(&self) -> bool {
        let mut asked = self.asked.lock().expect("not poisoned");
        let next = if asked.len().is_multiple_of(3) { asked.pop_back() } else { asked.pop_front() };
        drop(asked);
        next.is_some_and(|counter| {
            // SAFETY: its thread waits for this signal.
            let counter = unsafe { &*std::ptr::with_exposed_provenance::<SyncCounter>(counter) };
            counter.signal();
            true
        })
    }
}

impl Progress for Network {
    fn poll(&self) -> bool {
        assert!(!self.polled_by.swap(true, Ordering::Relaxed), "two leaders");
        let anything = self.complete();
        self.polled_by.store(false, Ordering::Relaxed);
        anything
    }

    fn idle(&self, _: Option<u64>) {
        let ticket = self.doorbell.prepare(Scope::Process);
        if self.asked.lock().expect("not poisoned").is_empty() {
            ticket.park(Some(Duration::from_millis(1)));
        }
    }
}

/// Every thread asks for one or more events at a time; some have deadlines, and a helper steals events from
/// the leader.
#[test]
fn everybody_is_served() {
    for policy in POLICIES {
        for threads in [1_u32, 2, 3, 16, 64] {
            let network = Network::new(policy);
            let rounds = 2_000 / threads;
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let waiters: Vec<_> = (0..threads)
                    .map(|thread| {
                        let network = &network;
                        scope.spawn(move || {
                            for round in 0..rounds {
                                let events = 1 + (round + thread) % 3;
                                let counter = SyncCounter::new(events);
                                (0..events).for_each(|_| network.ask(&counter));
                                let mut hasty = (round + thread).is_multiple_of(4);
                                while !network.leadership.wait(
                                    &counter,
                                    network,
                                    hasty.then(|| clock::now_ns() + 10_000),
                                ) {
                                    hasty = !hasty;
                                }
                            }
                        })
                    })
                    .collect();
                // The helper: completes some events outside the leader's poll. A leader that idles polls
                // again within a millisecond.
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        network.complete();
                        thread::yield_now();
                    }
                });
                waiters.into_iter().for_each(|waiter| waiter.join().expect("waiter"));
                done.store(true, Ordering::Relaxed);
            });
            assert!(network.asked.lock().expect("not poisoned").is_empty());
        }
    }
}

/// A poll that panics hands the role over.
#[test]
fn the_role_survives_a_panic() {
    struct Broken;
    impl Progress for Broken {
        fn poll(&self) -> bool {
            panic!("the network is gone");
        }
        fn idle(&self, _: Option<u64>) {}
    }
    let network = Network::new(WaitPolicy::DEFAULT);
    let counter = SyncCounter::new(1);
    let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        network.leadership.wait(&counter, &Broken, None)
    }));
    assert!(attempt.is_err());
    network.ask(&counter);
    assert!(network.leadership.wait(&counter, &network, None));
}
