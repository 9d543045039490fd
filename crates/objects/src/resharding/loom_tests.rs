//! Self messages under the model checker: they are received in their order while threads shard and pin them.

use super::{Moved, Mover, SelfMessages, Shard, Sharding, allow_moves, next_stamp};
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The default VNI, and the VNI of tag 1 while messages are sharded.
const DEFAULT_VNI: u32 = 0;
const ELSEWHERE: u32 = 1;
const MESSAGES: SelfMessages = SelfMessages { context: 8, source: 0, default_vni: DEFAULT_VNI };

/// Receives and messages on a VNI, with their tags and numbers.
#[derive(Default)]
struct Waiting {
    posted: Vec<(i32, u32)>,
    unexpected: Vec<(u64, i32, u32)>,
    /// Receives and the messages that they got.
    met: Vec<(u32, u32)>,
}

struct Vni(Mutex<Waiting>);

impl Shard for Vni {
    type Inside = Waiting;
    type Key = i32;
    type Message = u32;

    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Waiting) -> R + Send) -> R {
        operation(&mut self.0.lock().expect("not poisoned"))
    }

    fn take_out(inside: &mut Waiting, messages: SelfMessages) -> Moved<i32, u32> {
        assert_eq!((messages.context, messages.source), (MESSAGES.context, MESSAGES.source));
        Moved {
            posted: std::mem::take(&mut inside.posted),
            unexpected: std::mem::take(&mut inside.unexpected),
        }
    }

    fn post(inside: &mut Waiting, tag: i32, request: u32, _: u32) {
        inside.posted.push((tag, request));
    }

    fn keep(inside: &mut Waiting, tag: i32, message: u32, stamp: Option<u64>) {
        inside.keep(tag, message, stamp);
    }
}

impl Waiting {
    fn keep(&mut self, tag: i32, message: u32, stamp: Option<u64>) {
        let stamp = stamp.unwrap_or(self.unexpected.len() as u64);
        self.unexpected.push((stamp, tag, message));
    }

    fn send(&mut self, tag: i32, message: u32, stamped: bool) {
        match self.posted.iter().position(|(wanted, _)| *wanted == tag) {
            Some(at) => {
                let (_, receive) = self.posted.remove(at);
                self.met.push((receive, message));
            }
            None => self.keep(tag, message, stamped.then(next_stamp)),
        }
    }

    fn receive(&mut self, tag: i32, receive: u32) {
        match self.unexpected.iter().position(|(_, sent, _)| *sent == tag) {
            Some(at) => {
                let (_, _, message) = self.unexpected.remove(at);
                self.met.push((receive, message));
            }
            None => self.posted.push((tag, receive)),
        }
    }
}

struct Model {
    sharding: Sharding,
    vnis: [Vni; 2],
}

fn vni_of(tag: i32) -> u32 {
    if tag == 1 { ELSEWHERE } else { DEFAULT_VNI }
}

impl Model {
    fn new(is_sharded: bool) -> Arc<Model> {
        let sharding = Sharding::pinned();
        allow_moves();
        sharding.begin(true);
        let vnis = [(); 2].map(|()| Vni(Mutex::default()));
        let model = Arc::new(Model { sharding, vnis });
        if is_sharded {
            model.shard();
        }
        model
    }

    fn shard(&self) {
        self.sharding.shard(&Mover::wait(), &self.vnis, MESSAGES, |tag| vni_of(*tag));
    }

    fn pin(&self) {
        self.sharding.pin(&Mover::wait(), &self.vnis, MESSAGES);
    }

    /// Runs an operation on the VNI that has a tag's messages; its second argument says whether they are
    /// sharded.
    fn at(&self, tag: i32, operation: impl Fn(&mut Waiting, bool) + Sync) {
        while let Some(route) = self.sharding.route(DEFAULT_VNI, || vni_of(tag)) {
            let done = self.vnis[route.vni() as usize].enter(|waiting| {
                let is_current = route.is_current();
                if is_current {
                    route.note_sender();
                    operation(waiting, route.is_sharded());
                }
                is_current
            });
            if done {
                assert!(!route.should_shard(), "two threads have not taken turns so often");
                return;
            }
        }
        self.vnis[DEFAULT_VNI as usize].enter(|waiting| operation(waiting, false));
    }

    fn send(&self, tag: i32, message: u32) {
        self.at(tag, |waiting, stamped| waiting.send(tag, message, stamped));
    }

    fn receive(&self, tag: i32, receive: u32) {
        self.at(tag, |waiting, _| waiting.receive(tag, receive));
    }

    /// All messages, in the order in which receives with wildcards get them.
    fn all_messages(&self) -> Vec<u32> {
        self.pin();
        self.vnis[DEFAULT_VNI as usize]
            .enter(|default_vni| default_vni.unexpected.iter().map(|(.., message)| *message).collect())
    }

    fn all_met(&self) -> Vec<(u32, u32)> {
        let met = |vni: &Vni| vni.enter(|waiting| waiting.met.clone());
        let mut all: Vec<_> = self.vnis.iter().flat_map(met).collect();
        all.sort_unstable();
        all
    }
}

/// One thread sends messages with these tags, another one moves them.
fn sender_and_mover(tags: &'static [i32], is_sharded: bool, moves: &'static [fn(&Model)]) {
    let model = Model::new(is_sharded);
    let sender = Arc::clone(&model);
    let sender = thread::spawn(move || (0..).zip(tags).for_each(|(number, tag)| sender.send(*tag, number)));
    moves.iter().for_each(|change| change(&model));
    sender.join().expect("sender");
    let expected: Vec<u32> = (0..tags.len() as u32).collect();
    assert_eq!(model.all_messages(), expected, "{OVERTAKEN}");
}

/// One thread receives, another one sends, a third one moves messages and receives.
fn receiver_sender_and_mover(is_sharded: bool, change: fn(&Model)) {
    let model = Model::new(is_sharded);
    let (receiver, sender) = (Arc::clone(&model), Arc::clone(&model));
    let receiver = thread::spawn(move || (0..2).for_each(|number| receiver.receive(1, number)));
    let sender = thread::spawn(move || (0..2).for_each(|number| sender.send(1, number)));
    change(&model);
    receiver.join().expect("receiver");
    sender.join().expect("sender");
    assert_eq!(model.all_met(), [(0, 0), (1, 1)], "{OVERTAKEN}");
}

const OVERTAKEN: &str = "a message was overtaken or lost";

#[test]
fn messages_are_in_order_while_they_are_sharded() {
    explore(None, || sender_and_mover(&[1, 1], false, &[Model::shard]));
    explore(None, || sender_and_mover(&[1, 0, 1], false, &[Model::shard]));
}

#[test]
fn messages_are_in_order_while_they_are_pinned() {
    explore(None, || sender_and_mover(&[1, 1], true, &[Model::pin]));
    explore(None, || sender_and_mover(&[1, 0, 1], true, &[Model::pin]));
}

#[test]
fn messages_are_in_order_while_both_happens() {
    explore(Some(3), || sender_and_mover(&[1, 0, 1], false, &[Model::shard, Model::pin]));
}

#[test]
fn each_receive_gets_its_message() {
    explore(Some(3), || receiver_sender_and_mover(false, Model::shard));
    explore(Some(3), || receiver_sender_and_mover(true, Model::pin));
}

#[test]
fn two_may_move_at_once() {
    explore(Some(3), || {
        let model = Model::new(false);
        let others = [Model::shard, Model::pin].map(|change| {
            let model = Arc::clone(&model);
            thread::spawn(move || change(&model))
        });
        model.send(1, 0);
        model.send(0, 1);
        others.into_iter().for_each(|other| other.join().expect("mover"));
        assert_eq!(model.all_messages(), [0, 1]);
    });
}

with_fault!(a_change_before_the_move_is_found, || {
    sender_and_mover(&[1, 1], false, &[Model::shard]);
});

with_fault!(a_change_after_the_move_is_found, || {
    sender_and_mover(&[1, 1], true, &[Model::pin]);
});

with_fault!(a_route_that_is_not_checked_again_is_found, || {
    sender_and_mover(&[1, 1], true, &[Model::pin]);
});
