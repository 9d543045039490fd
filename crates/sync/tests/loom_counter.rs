//! The synchronisation counter and the leader's hand-over under the model checker.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::leader::Progress;
use heddle_sync::sync_counter::Wake;
use heddle_sync::{Leadership, SyncCounter, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

/// Data that comes with events, and the counter of them.
struct Delivery {
    counter: SyncCounter,
    lasts: AtomicU32,
    data: Vec<UnsafeCell<u32>>,
}

impl Delivery {
    fn new(events: u32) -> Arc<Self> {
        Arc::new(Self {
            counter: SyncCounter::new(events),
            lasts: AtomicU32::new(0),
            data: (0..events).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    fn complete(&self, number: usize) {
        // SAFETY: each event is completed by one thread, before its signal.
        self.data[number].with_mut(|data| unsafe { *data = 1 });
        if self.counter.signal() {
            self.lasts.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn check(&self) {
        assert!(self.counter.is_done());
        for data in &self.data {
            // SAFETY: all signals are seen.
            data.with(|data| assert_eq!(unsafe { *data }, 1));
        }
    }
}

fn events_by_one_thread() {
    let delivery = Delivery::new(2);
    let other = Arc::clone(&delivery);
    let other = thread::spawn(move || (0..2).for_each(|number| other.complete(number)));
    delivery.counter.wait(&POLICY);
    delivery.check();
    other.join().expect("completer");
    assert_eq!(delivery.lasts.load(Ordering::Relaxed), 1);
}

fn events_by_two_threads() {
    let delivery = Delivery::new(2);
    let others = [0, 1].map(|number| {
        let delivery = Arc::clone(&delivery);
        thread::spawn(move || delivery.complete(number))
    });
    delivery.counter.wait(&POLICY);
    delivery.check();
    for other in others {
        other.join().expect("completer");
    }
    assert_eq!(delivery.lasts.load(Ordering::Relaxed), 1);
}

fn a_nudge_and_an_event() {
    let delivery = Delivery::new(1);
    let nudged = Arc::new(AtomicU32::new(0));
    let (nudger, also_nudged) = (Arc::clone(&delivery), Arc::clone(&nudged));
    let nudger = thread::spawn(move || {
        also_nudged.store(1, Ordering::Relaxed);
        nudger.counter.nudge();
    });
    // The event comes only after the nudge was seen: a nudge that is lost is a deadlock.
    assert_eq!(delivery.counter.wait_until(&POLICY, None), Wake::Nudged);
    assert_eq!(nudged.load(Ordering::Relaxed), 1);
    let completer = Arc::clone(&delivery);
    let completer = thread::spawn(move || completer.complete(0));
    delivery.counter.wait(&POLICY);
    delivery.check();
    nudger.join().expect("nudger");
    completer.join().expect("completer");
}

#[test]
fn one_completer() {
    explore(None, events_by_one_thread);
}

#[test]
fn two_completers() {
    explore(Some(3), events_by_two_threads);
}

#[test]
fn a_nudge_is_seen() {
    explore(Some(3), a_nudge_and_an_event);
}

/// Time stands still at 0, so a deadline is over at once: the wait checks once, and the counter stays usable.
#[test]
fn a_timeout_at_the_same_time() {
    explore(None, || {
        let delivery = Delivery::new(1);
        let other = Arc::clone(&delivery);
        let other = thread::spawn(move || other.complete(0));
        while delivery.counter.wait_until(&POLICY, Some(0)) != Wake::Done {
            thread::yield_now();
        }
        delivery.check();
        other.join().expect("completer");
    });
}

with_fault!(an_event_that_publishes_nothing, events_by_one_thread);
with_fault!(a_sleep_announced_over_a_signal, events_by_one_thread);
with_fault!(a_signal_that_does_not_wake, events_by_one_thread);
with_fault!(a_nudge_that_does_not_wake, a_nudge_and_an_event);

/// Threads that wait, each for one event, and a network that only the leader polls: every poll completes the
/// event that was asked for last.
struct Network {
    leadership: Leadership,
    asked: loom::sync::Mutex<Vec<Arc<Delivery>>>,
    /// The polling thread touches it: two at a time would be a race.
    polling: UnsafeCell<()>,
}

impl Network {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            leadership: Leadership::new(POLICY),
            asked: loom::sync::Mutex::new(Vec::new()),
            polling: UnsafeCell::new(()),
        })
    }

    fn ask(&self) -> Arc<Delivery> {
        let delivery = Delivery::new(1);
        self.asked.lock().expect("not poisoned").push(Arc::clone(&delivery));
        delivery
    }

    fn await_event(&self) {
        let delivery = self.ask();
        assert!(self.leadership.wait(&delivery.counter, self, None));
        delivery.check();
    }
}

impl Progress for Network {
    fn poll(&self) -> bool {
        self.polling.with_mut(|_| ());
        let next = self.asked.lock().expect("not poisoned").pop();
        next.is_some_and(|delivery| {
            delivery.complete(0);
            true
        })
    }

    fn idle(&self, _: Option<u64>) {
        thread::yield_now();
    }
}

fn waiting(threads: usize) -> impl Fn() + Sync + Send + 'static {
    move || {
        let network = Network::new();
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let network = Arc::clone(&network);
                thread::spawn(move || network.await_event())
            })
            .collect();
        network.await_event();
        for other in others {
            other.join().expect("waiter");
        }
    }
}

/// A waits and leads for long; B's event comes from a third thread, perhaps just when A hands over to it; C
/// needs the role.
fn an_event_while_the_role_comes() {
    let network = Network::new();
    let elsewhere = Delivery::new(1);
    let (sleeper, its_event) = (Arc::clone(&network), Arc::clone(&elsewhere));
    let sleeper = thread::spawn(move || {
        assert!(sleeper.leadership.wait(&its_event.counter, &*sleeper, None));
        its_event.check();
    });
    let completer = thread::spawn(move || elsewhere.complete(0));
    network.await_event();
    network.await_event();
    sleeper.join().expect("sleeper");
    completer.join().expect("completer");
}

#[test]
fn two_wait() {
    explore(Some(3), waiting(2));
}

#[test]
fn three_wait() {
    explore(Some(2), waiting(3));
}

#[test]
fn an_event_and_the_role_at_once() {
    explore(Some(2), an_event_while_the_role_comes);
}

/// One of them has no time, and leads or sleeps only for a moment.
#[test]
fn a_leader_without_time() {
    explore(Some(3), || {
        let network = Network::new();
        let other = Arc::clone(&network);
        let hasty = thread::spawn(move || {
            let delivery = other.ask();
            let done = other.leadership.wait(&delivery.counter, &*other, Some(0));
            assert!(!done || delivery.counter.is_done());
        });
        network.await_event();
        hasty.join().expect("hasty");
    });
}

with_fault!(a_leader_that_keeps_the_role, waiting(2));

with_fault!(an_appointed_thread_that_leaves_with_the_role, an_event_while_the_role_comes);
