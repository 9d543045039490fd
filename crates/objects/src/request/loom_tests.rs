//! The end of requests under the model checker: completing, claiming and signalling.

use super::Missing;
use super::{StateWord, signal_watchers};
use crate::sentinel::step;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WaitPolicy, Watcher};
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

/// A request: its state, its handle, and its outcome.
struct Request {
    state: StateWord,
    generation: AtomicU32,
    outcome: UnsafeCell<u32>,
    /// For a joint request: the outcome of its other part.
    failed: UnsafeCell<u32>,
    missing: Missing,
}

impl Request {
    fn active(parts: u32) -> Arc<Request> {
        let request = Arc::new(Request {
            state: StateWord::new(),
            generation: AtomicU32::new(1),
            outcome: UnsafeCell::new(0),
            failed: UnsafeCell::new(0),
            missing: Missing::new(parts),
        });
        request.state.activate();
        request
    }

    fn complete(&self, outcome: u32) {
        // SAFETY: only the completer writes the outcome of an active request; loom reports any other access.
        self.outcome.with_mut(|place| unsafe { *place = outcome });
        step();
        self.state.end();
    }

    /// Notes the end of a part, whose outcome is this number.
    fn complete_part(&self, place: &UnsafeCell<u32>, number: u32) {
        // SAFETY: only this part writes here; loom reports any other access.
        place.with_mut(|place| unsafe { *place = number });
        step();
        if self.missing.is_last() {
            // SAFETY: all parts are complete, so no other thread writes; loom reports any other access.
            let [one, other] =
                [&self.outcome, &self.failed].map(|place| place.with(|place| unsafe { *place }));
            self.complete(one + other);
        }
    }

    /// Takes the outcome, as its owner, and frees the slot.
    fn consume(&self) -> u32 {
        // SAFETY: only the owner takes the outcome; loom reports any other access.
        let outcome = self.outcome.with_mut(|place| unsafe { std::mem::take(&mut *place) });
        step();
        self.state.set_free();
        self.generation.store(2, Ordering::Release);
        outcome
    }

    /// A test by a thread that is perhaps not the only one.
    fn test(&self, generation: u32) -> Option<u32> {
        step();
        let is_it = || self.generation.load(Ordering::Relaxed) == generation;
        self.state.claim_alone(is_it).then(|| self.consume())
    }

    /// Waits, as the thread that owns the request.
    fn wait(&self) -> u32 {
        while !self.state.claim() {
            thread::yield_now();
        }
        self.consume()
    }
}

fn in_a_thread<R: 'static>(
    request: &Arc<Request>,
    run: impl FnOnce(&Request) -> R + 'static,
) -> JoinHandle<R> {
    let request = Arc::clone(request);
    thread::spawn(move || run(&request))
}

fn completed_while_its_owner_waits() {
    let request = Request::active(0);
    let completer = in_a_thread(&request, |request| request.complete(7));
    assert_eq!(request.wait(), 7);
    completer.join().expect("completer");
    assert!(request.state.is_free());
}

/// The two parts end at once, in different threads, while the owner tests and waits.
fn both_parts_end() {
    let request = Request::active(2);
    let one = in_a_thread(&request, |request| request.complete_part(&request.outcome, 3));
    let other = in_a_thread(&request, |request| request.complete_part(&request.failed, 4));
    let early = request.state.claim().then(|| request.consume());
    one.join().expect("one");
    other.join().expect("other");
    assert_eq!(early.unwrap_or_else(|| request.wait()), 7);
}

/// Sleeps until the request is complete.
fn wait_until_told(request: &Request) {
    let watcher = Watcher::for_all();
    // SAFETY: taken out below, before it leaves and goes.
    match unsafe { request.state.watch(&watcher) } {
        Watch::Set => watcher.counter().wait(&WaitPolicy::PARK_AT_ONCE),
        Watch::Over => {}
        Watch::Taken => unreachable!("nobody else watches"),
    }
    assert!(request.state.is_complete());
    request.state.unwatch(&watcher);
    watcher.leave(&WaitPolicy::PARK_AT_ONCE);
    assert_eq!(request.wait(), 7);
}

fn told_when_it_ends() {
    signal_watchers();
    let request = Request::active(0);
    let completer = in_a_thread(&request, |request| request.complete(7));
    wait_until_told(&request);
    completer.join().expect("completer");
}

fn told_when_both_parts_have_ended() {
    signal_watchers();
    let request = Request::active(2);
    let one = in_a_thread(&request, |request| request.complete_part(&request.outcome, 3));
    let other = in_a_thread(&request, |request| request.complete_part(&request.failed, 4));
    wait_until_told(&request);
    one.join().expect("one");
    other.join().expect("other");
}

/// The owner watches, and gives up watching while the request ends.
fn given_up_when_it_ends() {
    signal_watchers();
    let request = Request::active(0);
    let completer = in_a_thread(&request, |request| request.complete(7));
    let watcher = Watcher::for_all();
    // SAFETY: taken out below, before it leaves and goes.
    unsafe { request.state.watch(&watcher) };
    request.state.unwatch(&watcher);
    watcher.leave(&WaitPolicy::PARK_AT_ONCE);
    completer.join().expect("completer");
    assert_eq!(request.wait(), 7);
}

/// A persistent request is started again when it has ended.
fn started_again() {
    let request = Request::active(0);
    for outcome in [7, 8] {
        let completer = in_a_thread(&request, move |request| request.complete(outcome));
        assert_eq!(request.wait(), outcome);
        request.state.deactivate();
        assert!(request.state.is_inactive());
        request.state.activate();
        completer.join().expect("completer");
    }
}

/// Two threads test one request while a third completes it; one of them gets the outcome, once.
fn tested_by_two() {
    let request = Request::active(0);
    let completer = in_a_thread(&request, |request| request.complete(7));
    let tester = in_a_thread(&request, |request| request.test(1));
    let here = request.test(1);
    completer.join().expect("completer");
    let there = tester.join().expect("tester");
    let left = request.test(1);
    let found: Vec<u32> = [here, there, left].into_iter().flatten().collect();
    assert_eq!(found, [7], "{ONCE}");
}

/// One of two testers gets the outcome and uses the slot for another request; the other one, which is late,
/// does not get that.
fn tested_late() {
    let request = Request::active(0);
    request.complete(7);
    let late = in_a_thread(&request, |request| request.test(1));
    if let Some(outcome) = request.test(1) {
        assert_eq!(outcome, 7);
        request.state.activate();
        request.generation.store(3, Ordering::Release);
        request.complete(8);
        let mut found = request.test(3);
        assert_eq!(late.join().expect("late"), None, "{ONCE}");
        found = found.or_else(|| request.test(3));
        assert_eq!(found, Some(8), "{ONCE}");
    } else {
        assert_eq!(late.join().expect("late"), Some(7));
    }
}

/// A late tester has claimed the slot's next request, whose owner has seen it complete before that: when the
/// tester notices that it has another request than it asked for, the slot is free. (In one thread: loom would
/// let the tester's second exchange come before the owner's stores, although it comes after them.)
fn tested_late_beside_a_waiting_owner() {
    let request = Request::active(0);
    request.complete(8);
    let claimed = request.state.claim_alone(|| {
        request.state.set_free();
        false
    });
    assert!(!claimed && request.state.is_free(), "{LOST}");
}

const LOST: &str = "a slot was lost";
const ONCE: &str = "an outcome is taken once, by a thread that asked for it";

#[test]
fn an_outcome_is_whole() {
    explore(None, completed_while_its_owner_waits);
    explore(Some(4), both_parts_end);
    explore(None, started_again);
}

#[test]
fn a_waiting_thread_is_signalled() {
    explore(None, told_when_it_ends);
    explore(Some(3), told_when_both_parts_have_ended);
    explore(None, given_up_when_it_ends);
}

#[test]
fn an_outcome_is_taken_once() {
    explore(Some(4), tested_by_two);
    explore(None, tested_late);
    explore(None, tested_late_beside_a_waiting_owner);
}

with_fault!(an_end_without_order_is_found, completed_while_its_owner_waits);

with_fault!(a_relaxed_count_of_parts_is_found, both_parts_end);

with_fault!(a_claim_by_all_is_found, tested_by_two);

with_fault!(the_outcome_of_the_next_request_is_found, tested_late);

with_fault!(a_blind_return_is_found, tested_late_beside_a_waiting_owner);
