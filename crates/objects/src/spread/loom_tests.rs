//! Lanes under the model checker: messages that the program orders are passed on in that order.

use super::{Spill, Stamped, settle};
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::collections::VecDeque;

/// A lane has room for so many messages.
const ROOM: usize = 1;

struct Model {
    lanes: [Mutex<VecDeque<Stamped<u32>>>; 2],
    spill: Spill<(usize, u32)>,
    clock: AtomicU64,
    /// The first thread has sent its messages.
    said: AtomicBool,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            lanes: [(); 2].map(|()| Mutex::default()),
            spill: Spill::default(),
            clock: AtomicU64::new(0),
            said: AtomicBool::new(false),
        })
    }

    fn try_lane(&self, lane: usize, message: u32) -> bool {
        let mut lane = self.lanes[lane].lock().expect("not poisoned");
        let has_room = lane.len() < ROOM;
        if has_room {
            // Relaxed: a message that comes before has taken its stamp before, by whatever orders the two.
            let stamp = self.clock.fetch_add(1, Ordering::Relaxed);
            lane.push_back(Stamped { stamp, message });
        }
        has_room
    }

    fn send(&self, lane: usize, message: u32) {
        if self.spill.is_empty() && self.try_lane(lane, message) {
            return;
        }
        self.spill.lock().send_or_wait((lane, message), |&(lane, message)| self.try_lane(lane, message));
    }

    fn drain(&self) {
        self.spill.lock().drain(|&(lane, message)| self.try_lane(lane, message));
    }

    fn settle(&self, held: &mut Vec<Stamped<u32>>) -> Vec<u32> {
        let look = |held: &mut Vec<_>| {
            for lane in &self.lanes {
                held.extend(lane.lock().expect("not poisoned").drain(..));
            }
        };
        settle(held, look).into_iter().map(|message| message.message).collect()
    }
}

/// One thread sends messages, and says so; another one then sends the last, if it has heard of it. A third
/// one passes messages on, and makes room.
fn senders_and_receiver(first: &'static [usize], last: usize) {
    let model = Model::new();
    let sender = Arc::clone(&model);
    let one = thread::spawn(move || {
        (0..).zip(first).for_each(|(number, lane)| sender.send(*lane, number));
        sender.said.store(true, Ordering::Release);
    });
    let sender = Arc::clone(&model);
    let other = thread::spawn(move || {
        let heard = sender.said.load(Ordering::Acquire);
        if heard {
            sender.send(last, first.len() as u32);
        }
        heard
    });
    let (mut held, mut passed) = (Vec::new(), Vec::new());
    passed.extend(model.settle(&mut held));
    one.join().expect("sender");
    let heard = other.join().expect("sender");
    for _ in 0..=first.len() {
        model.drain();
        passed.extend(model.settle(&mut held));
    }
    let all = first.len() as u32 + u32::from(heard);
    assert_eq!(passed, (0..all).collect::<Vec<_>>(), "a message was overtaken or lost");
}

#[test]
fn messages_of_two_lanes_are_passed_on_in_order() {
    explore(Some(3), || senders_and_receiver(&[0], 1));
    explore(Some(3), || senders_and_receiver(&[1], 0));
}

#[test]
fn messages_that_found_no_room_keep_their_order() {
    explore(Some(2), || senders_and_receiver(&[0, 0], 1));
    explore(Some(2), || senders_and_receiver(&[1, 1, 0], 1));
}

with_fault!(a_look_that_is_not_repeated_is_found, || senders_and_receiver(&[0], 1));

with_fault!(a_message_that_does_not_wait_behind_others_is_found, || senders_and_receiver(&[0, 0], 1));
