//! Partitions under the model checker: each is delivered once and taken once, with its data, and none is
//! forgotten at a gate that opens at the same time.
#![cfg(loom)]

mod model;

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::queues::partitions::{Arrivals, Arrived, Departures, Flag, Gate, Ready};
use loom::sync::{Arc, Mutex};
use loom::thread;
use model::{explore, with_fault};

/// A sender and a receiver of partitions, each with a place for its data.
struct World {
    gate: Gate,
    flags: Vec<Flag>,
    places: Vec<UnsafeCell<u32>>,
    /// The sender's data.
    data: Vec<UnsafeCell<u32>>,
    departures: Departures,
    arrivals: Arrivals,
    /// Held by the one thread that makes progress for the sender.
    progress: Mutex<()>,
    taken: AtomicU32,
}

impl World {
    fn new(partitions: usize) -> Arc<World> {
        Arc::new(World {
            gate: Gate::default(),
            flags: (0..partitions).map(|_| Flag::default()).collect(),
            places: (0..partitions).map(|_| UnsafeCell::new(0)).collect(),
            data: (0..partitions).map(|_| UnsafeCell::new(0)).collect(),
            departures: Departures::new(partitions),
            arrivals: Arrivals::new(partitions),
            progress: Mutex::new(()),
            taken: AtomicU32::new(0),
        })
    }

    fn deliver(&self, partition: usize, round: u32) {
        // SAFETY: the partition is ready, so nobody writes its data; loom reports any other access.
        let value = self.data[partition].with(|value| unsafe { *value });
        // SAFETY: the gate is open, so the receiver leaves the place alone; loom reports any other access.
        self.places[partition].with_mut(|place| unsafe { *place = value });
        self.flags[partition].raise(round);
    }

    fn progress(&self, round: u32) {
        let _one_at_a_time = self.progress.lock();
        self.departures.deliver_deferred(round, &self.gate, |partition| {
            self.deliver(partition, round);
            true
        });
    }

    /// Computes a partition, and hands it over.
    fn ready(&self, partition: usize, round: u32) {
        let value = round * 10 + partition as u32;
        // SAFETY: the partition is this thread's until it is ready; loom reports any other access.
        self.data[partition].with_mut(|data| unsafe { *data = value });
        if self.departures.ready(partition, round, &self.gate, || self.deliver(partition, round))
            == Ready::Overtaken
        {
            self.progress(round);
        }
    }

    /// Opens the gate, and wakes the sender's thread that makes progress: here it is this one.
    fn open(&self, round: u32) {
        self.gate.open(round);
        self.progress(round);
    }

    fn look(&self, partition: usize, round: u32) -> Arrived {
        let take = || {
            // SAFETY: the flag is raised, so the sender leaves the place alone; loom reports any other
            // access.
            let value = self.places[partition].with(|place| unsafe { *place });
            assert_eq!(value, round * 10 + partition as u32, "the data of another round or partition");
            self.taken.fetch_add(1, Ordering::Relaxed);
        };
        self.arrivals.look(partition, round, || self.flags[partition].is_raised(round), take)
    }
}

/// Two threads hand a partition over each, while a third one opens the gate.
fn none_is_forgotten() {
    let world = World::new(2);
    world.departures.begin();
    let [first, second] = [0, 1].map(|partition| {
        let world = Arc::clone(&world);
        thread::spawn(move || world.ready(partition, 1))
    });
    world.open(1);
    first.join().expect("it ends");
    second.join().expect("it ends");
    assert!(world.departures.are_over(), "a partition was forgotten");
}

#[test]
fn no_partition_is_forgotten_at_the_gate() {
    explore(Some(3), none_is_forgotten);
}

/// Two rounds of a partition through one place, which the receiver has to leave before the second one.
fn data_arrive() {
    let world = World::new(1);
    world.gate.open(1);
    let receiver = Arc::clone(&world);
    world.departures.begin();
    world.arrivals.begin();
    let receiver = thread::spawn(move || {
        for round in 1..=2 {
            if round == 2 {
                receiver.arrivals.begin();
            }
            while receiver.look(0, round) == Arrived::No {
                thread::yield_now();
            }
            receiver.open(round + 1);
        }
    });
    world.ready(0, 1);
    assert!(world.departures.are_over());
    world.departures.begin();
    world.ready(0, 2);
    receiver.join().expect("it ends");
    assert_eq!(world.taken.load(Ordering::Relaxed), 2);
}

#[test]
fn the_data_of_each_round_arrive() {
    explore(Some(3), data_arrive);
}

/// Two threads look for one partition while it is delivered.
fn taken_once() {
    let world = World::new(1);
    world.gate.open(1);
    world.departures.begin();
    world.arrivals.begin();
    let others: Vec<_> = (0..2)
        .map(|_| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.look(0, 1))
        })
        .collect();
    world.ready(0, 1);
    let mut found: Vec<_> = others.into_iter().map(|thread| thread.join().expect("it ends")).collect();
    found.push(world.look(0, 1));
    assert_eq!(found.iter().filter(|arrived| **arrived == Arrived::Last).count(), 1);
    assert_eq!(world.taken.load(Ordering::Relaxed), 1, "a partition was taken twice");
}

#[test]
fn a_partition_is_taken_by_one_thread() {
    explore(Some(3), taken_once);
}

with_fault!(a_partition_deferred_while_the_gate_opens_is_missed, none_is_forgotten);
with_fault!(a_flag_without_its_data_is_found, data_arrive);
with_fault!(a_partition_taken_twice_is_found, taken_once);
