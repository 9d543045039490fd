//! The doorbell under the model checker: no wake-up is lost, and leaving out a fence loses one.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::{Doorbell, Scope};
use loom::sync::Arc;
use loom::thread;
use model::{DEADLOCK, explore, must_fail, with_fault};

/// Numbered events with data, and the doorbell that announces them.
struct Events {
    count: AtomicU32,
    data: [UnsafeCell<u32>; 2],
    doorbell: Doorbell,
}

impl Events {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            count: AtomicU32::new(0),
            data: [UnsafeCell::new(0), UnsafeCell::new(0)],
            doorbell: Doorbell::default(),
        })
    }

    fn announce(&self, number: u32) {
        // SAFETY: no thread reads this element before `count` allows it.
        self.data[number as usize].with_mut(|data| unsafe { *data = number + 1 });
        self.count.store(number + 1, Ordering::Release);
        self.doorbell.ring(Scope::Process);
    }

    fn seen(&self, number: u32) -> bool {
        self.count.load(Ordering::Acquire) > number
    }

    /// Sleeps until event `number`.
    fn await_event(&self, number: u32) {
        if !self.seen(number) {
            self.doorbell.sleep_until(Scope::Process, || self.seen(number));
        }
        // SAFETY: written before `count` was raised past it, and never again.
        let data = self.data[number as usize].with(|data| unsafe { *data });
        assert_eq!(data, number + 1);
    }
}

fn one_event() {
    let events = Events::new();
    let ringer = Arc::clone(&events);
    let ringer = thread::spawn(move || ringer.announce(0));
    events.await_event(0);
    ringer.join().expect("ringer");
}

fn two_events() {
    let events = Events::new();
    let ringer = Arc::clone(&events);
    let ringer = thread::spawn(move || {
        ringer.announce(0);
        ringer.announce(1);
    });
    events.await_event(1);
    ringer.join().expect("ringer");
}

fn one_after_the_other() {
    let events = Events::new();
    let ringer = Arc::clone(&events);
    let ringer = thread::spawn(move || {
        ringer.announce(0);
        ringer.announce(1);
    });
    events.await_event(0);
    events.await_event(1);
    ringer.join().expect("ringer");
}

fn two_sleepers() {
    let events = Events::new();
    let other = Arc::clone(&events);
    let ringer = Arc::clone(&events);
    let other = thread::spawn(move || other.await_event(0));
    let ringer = thread::spawn(move || ringer.announce(0));
    events.await_event(0);
    other.join().expect("sleeper");
    ringer.join().expect("ringer");
}

/// Two ringers may see the same sleeper: one of them wakes it, and the other's event is seen, too.
fn two_ringers() {
    let doorbell = Arc::new(Doorbell::default());
    let flags = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let ringers: Vec<_> = flags
        .iter()
        .map(|flag| {
            let (flag, doorbell) = (Arc::clone(flag), Arc::clone(&doorbell));
            thread::spawn(move || {
                flag.store(1, Ordering::Relaxed);
                doorbell.ring(Scope::Process);
            })
        })
        .collect();
    doorbell.sleep_until(Scope::Process, || flags.iter().all(|flag| flag.load(Ordering::Relaxed) != 0));
    ringers.into_iter().for_each(|ringer| ringer.join().expect("ringer"));
}

#[test]
fn no_wake_up_is_lost() {
    explore(None, one_event);
}

#[test]
fn a_sleeper_waits_for_its_own_event() {
    explore(None, two_events);
}

#[test]
fn sleeping_again_works() {
    explore(Some(4), one_after_the_other);
}

#[test]
fn all_sleepers_are_woken() {
    explore(Some(3), two_sleepers);
}

#[test]
fn of_two_ringers_none_is_missed() {
    explore(Some(3), two_ringers);
}

with_fault!(a_wake_before_the_doorbell_is_disarmed_is_lost, one_event);

with_fault!(without_the_sleepers_fence_a_wake_up_is_lost, one_event);

with_fault!(without_the_ringers_fence_a_wake_up_is_lost, one_event);

must_fail!(
    /// The caller's part of the contract: the check between `prepare` and `park`.
    without_the_second_check_a_wake_up_is_lost,
    DEADLOCK,
    || {
        let events = Events::new();
        let ringer = Arc::clone(&events);
        let ringer = thread::spawn(move || ringer.announce(0));
        if !events.seen(0) {
            events.doorbell.prepare(Scope::Process).park(None);
        }
        ringer.join().expect("ringer");
    }
);
