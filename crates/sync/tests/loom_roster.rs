//! The roster under the model checker: work that is handed to a thread, and work that comes through the door,
//! wakes a thread that sleeps, and each fault is found.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_sync::roster::Check;
use heddle_sync::{Doorbell, Roster, Scope, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

/// Threads of a roster, with work that each takes away once.
struct World {
    roster: Roster,
    door: Doorbell,
    /// What was handed to each thread.
    handed: Vec<AtomicU32>,
    /// What has come through the door.
    arrived: AtomicU32,
    /// How much work is left to do or to come.
    left: AtomicU32,
}

impl World {
    fn new(threads: usize, work: u32) -> Arc<Self> {
        Arc::new(Self {
            roster: Roster::new(threads, WaitPolicy::PARK_AT_ONCE),
            door: Doorbell::default(),
            handed: (0..threads).map(|_| AtomicU32::new(0)).collect(),
            arrived: AtomicU32::new(0),
            left: AtomicU32::new(work),
        })
    }

    fn hand_to(&self, thread: usize) {
        self.handed[thread].store(1, Ordering::Release);
        self.roster.ring(thread, &self.door);
    }

    fn arrive(&self) {
        self.arrived.store(1, Ordering::Release);
        self.door.ring(Scope::Machine);
    }

    fn take(&self, work: &AtomicU32) -> bool {
        // The check is a load: to loom an exchange of nothing for nothing might come after the work's store.
        if work.load(Ordering::Acquire) == 0 || work.swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Makes the other threads end, too.
            (0..self.handed.len()).for_each(|thread| self.roster.ring(thread, &self.door));
        }
        true
    }

    fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// One of the threads: works until there is nothing left.
    fn work(&self, thread: usize) {
        while !self.is_over() {
            if self.take(&self.handed[thread]) | self.take(&self.arrived) {
                continue;
            }
            self.roster.sleep(thread, &self.door, None, |check| {
                self.take(&self.handed[thread])
                    | (check == Check::Everything && self.take(&self.arrived))
                    | self.is_over()
            });
        }
    }
}

/// One thread, work of both kinds.
fn alone() {
    let world = World::new(1, 2);
    let worker = Arc::clone(&world);
    let worker = thread::spawn(move || worker.work(0));
    world.arrive();
    world.hand_to(0);
    worker.join().expect("worker");
}

/// One thread, to which work is handed.
fn handed() {
    let world = World::new(1, 1);
    let worker = Arc::clone(&world);
    let worker = thread::spawn(move || worker.work(0));
    world.hand_to(0);
    worker.join().expect("worker");
}

/// Two threads; work comes through the door.
fn two_at_one_door() {
    let world = World::new(2, 1);
    let workers: Vec<_> = (0..2)
        .map(|number| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.work(number))
        })
        .collect();
    world.arrive();
    for worker in workers {
        worker.join().expect("worker");
    }
}

/// Two threads; work is handed to one of them, and the other one may be at the door or away.
fn one_of_two() {
    let world = World::new(2, 1);
    let other = Arc::clone(&world);
    let other = thread::spawn(move || other.work(1));
    let one = Arc::clone(&world);
    let one = thread::spawn(move || one.work(0));
    world.hand_to(1);
    one.join().expect("worker");
    other.join().expect("worker");
}

#[test]
fn work_of_both_kinds_wakes_the_only_thread() {
    explore(Some(4), alone);
}

#[test]
fn what_is_handed_over_wakes_the_only_thread() {
    explore(None, handed);
}

#[test]
fn what_comes_through_the_door_wakes_one_of_two() {
    explore(Some(3), two_at_one_door);
}

#[test]
fn what_is_handed_to_one_of_two_wakes_it() {
    explore(Some(3), one_of_two);
}

with_fault!(a_ring_that_leaves_out_the_door_is_found, handed);
with_fault!(a_sleep_without_a_check_is_found, handed);
with_fault!(a_late_mark_at_the_door_is_found, handed);
with_fault!(nobody_at_the_door_is_found, two_at_one_door);
