//! Publications under the model checker: what is read is the data of the round that it is read for, no
//! finished round is lost, and a process that waits for room is woken.
#![cfg(loom)]

mod model;

use heddle_platform::Scope;
use heddle_platform::cell::UnsafeCell;
use heddle_sync::Doorbell;
use heddle_sync::queues::publications::{Finished, Mark, Processes, Room, WINDOW, Waiting};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use model::{explore, with_fault};

/// Processes, each with one cell.
struct World {
    marks: Vec<Mark>,
    data: Vec<UnsafeCell<u32>>,
    finished: Vec<Finished>,
    waiting: Waiting,
    doorbell: Doorbell,
}

impl World {
    fn new(processes: usize) -> Arc<World> {
        Arc::new(World {
            marks: (0..processes).map(|_| Mark::default()).collect(),
            data: (0..processes).map(|_| UnsafeCell::new(0)).collect(),
            finished: (0..processes).map(|_| Finished::default()).collect(),
            waiting: Waiting::default(),
            doorbell: Doorbell::default(),
        })
    }

    /// For process 0; or for any one, if it does not note its readers.
    fn has_room(&self, room: &Room, round: u32) -> bool {
        room.is_there(round, 1, self)
    }

    fn publish(&self, process: usize, round: u32) {
        // SAFETY: there is room, so nobody reads the cell; loom reports any other access.
        self.data[process].with_mut(|data| unsafe { *data = round * 10 + process as u32 });
        self.marks[process].publish(round);
    }

    fn read(&self, process: usize, round: u32) {
        while !self.marks[process].is_published(round) {
            thread::yield_now();
        }
        // SAFETY: the cell is published, so nobody writes it; loom reports any other access.
        let value = self.data[process].with(|data| unsafe { *data });
        assert_eq!(value, round * 10 + process as u32, "the data of another round");
    }

    /// Publishes data that stay in the process's own memory.
    fn expose(&self, process: usize, round: u32) {
        self.marks[process].publish(round);
    }

    fn finish(&self, process: usize, round: u32) {
        self.finished[process].finish_alone(round);
        if self.waiting.is_any() {
            self.doorbell.ring(Scope::Process);
        }
    }
}

impl Processes for World {
    fn number(&self) -> usize {
        self.finished.len()
    }

    fn own(&self) -> usize {
        0
    }

    fn finished(&self, process: usize) -> &Finished {
        &self.finished[process]
    }

    fn fills_in_order(&self) -> bool {
        true
    }
}

/// One process publishes two rounds through one cell, and another one reads them.
fn data_arrive() {
    let world = World::new(2);
    let reader = Arc::clone(&world);
    let reader = thread::spawn(move || {
        for round in 0..2 {
            reader.read(0, round);
            reader.finish(1, round);
        }
    });
    let room = Room::default();
    for round in 0..2 {
        while !world.has_room(&room, round) {
            thread::yield_now();
        }
        world.publish(0, round);
        world.finish(0, round);
    }
    reader.join().expect("it ends");
}

#[test]
fn the_data_of_each_round_arrive() {
    explore(Some(4), data_arrive);
}

/// One process publishes two rounds for one of two others, which finish them in any order.
fn data_for_one_arrive() {
    let world = World::new(3);
    let others = [1, 2].map(|process| {
        let world = Arc::clone(&world);
        thread::spawn(move || {
            for round in 0..2 {
                if process == 1 {
                    world.read(0, round);
                }
                world.finish(process, round);
            }
        })
    });
    let room = Room::with_readers(1);
    for round in 0..2 {
        while !world.has_room(&room, round) {
            thread::yield_now();
        }
        room.note(round, Some(1));
        world.publish(0, round);
        world.finish(0, round);
    }
    others.into_iter().for_each(|other| other.join().expect("it ends"));
}

#[test]
fn the_data_for_one_arrive() {
    explore(Some(3), data_for_one_arrive);
}

/// Two processes publish for each other, with a look at each other's cell in each of two rounds.
fn both_publish() {
    let world = World::new(2);
    let take_part = |world: &World, me: usize| {
        let room = Room::default();
        for round in 0..2 {
            while !world.has_room(&room, round) {
                thread::yield_now();
            }
            world.publish(me, round);
            world.read(1 - me, round);
            world.finish(me, round);
        }
    };
    let other = Arc::clone(&world);
    let other = thread::spawn(move || take_part(&other, 1));
    take_part(&world, 0);
    other.join().expect("it ends");
}

#[test]
fn both_have_the_data_of_the_other() {
    explore(Some(3), both_publish);
}

/// A process exposes data and changes them when the reader has finished the round; the reader leaves an
/// earlier round open meanwhile.
fn exposed() {
    let world = World::new(2);
    let reader = Arc::clone(&world);
    // SAFETY: no other thread is there yet.
    world.data[0].with_mut(|data| unsafe { *data = 10 });
    let reader = thread::spawn(move || {
        reader.read(0, 1);
        reader.finish(1, 1);
    });
    world.expose(0, 1);
    while !world.finished[1].is_finished(1) {
        thread::yield_now();
    }
    // SAFETY: the reader has finished; loom reports any other access.
    world.data[0].with_mut(|data| unsafe { *data = 0 });
    reader.join().expect("it ends");
    assert_eq!(world.finished[1].first_open(), 0);
}

#[test]
fn exposed_data_stay_until_they_are_read() {
    explore(None, exposed);
}

/// Two threads of a process finish a round each.
fn finished_by_two() {
    let world = World::new(1);
    let other = Arc::clone(&world);
    let other = thread::spawn(move || assert!(other.finished[0].finish(1)));
    assert!(world.finished[0].finish(0));
    other.join().expect("it ends");
    assert_eq!(world.finished[0].first_open(), 2, "a finished round was lost");
}

#[test]
fn no_finished_round_is_lost() {
    explore(None, finished_by_two);
}

/// A thread finishes a round beyond the window as soon as another one has finished the first.
fn beyond_the_window() {
    let world = World::new(1);
    let is_first_over = Arc::new(AtomicBool::new(false));
    let other = (Arc::clone(&world), Arc::clone(&is_first_over));
    let other = thread::spawn(move || {
        let (world, is_first_over) = other;
        while !world.finished[0].finish(WINDOW) {
            thread::yield_now();
        }
        assert!(is_first_over.load(Relaxed), "the window moved on too early");
    });
    is_first_over.store(true, Relaxed);
    assert!(world.finished[0].finish(0));
    other.join().expect("it ends");
    assert!(world.finished[0].is_finished(0) && world.finished[0].is_finished(WINDOW));
    assert_eq!(world.finished[0].first_open(), 1);
}

#[test]
fn a_round_beyond_the_window_waits_for_the_first_one() {
    explore(None, beyond_the_window);
}

/// A process sleeps until another one has finished the round before.
fn woken() {
    let world = World::new(1);
    let sleeper = Arc::clone(&world);
    let sleeper = thread::spawn(move || {
        let room = Room::default();
        sleeper.waiting.begin();
        sleeper.doorbell.sleep_until(Scope::Process, || sleeper.has_room(&room, 1));
        sleeper.waiting.end();
    });
    world.finish(0, 0);
    sleeper.join().expect("it ends");
}

#[test]
fn who_waits_for_room_is_woken() {
    explore(None, woken);
}

with_fault!(data_without_their_mark_are_found, data_arrive);
with_fault!(a_cell_filled_too_early_is_found, data_arrive);
with_fault!(exposed_data_changed_too_early_are_found, exposed);
with_fault!(a_finished_round_lost_is_found, finished_by_two);
with_fault!(a_round_beyond_the_window_is_found, beyond_the_window);
with_fault!(a_sleeper_without_room_is_found, woken);
