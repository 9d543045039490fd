//! Messages to oneself under the model checker: whoever moves them meanwhile, they are received in their order.

use super::{Layout, Moved, Mover, Own, Place, allow_moves, next_stamp};
use crate::canary::must_fail;
use crate::fault::Fault;
use heddle_platform::model::explore;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The home, and where tag 1 is while messages are spread.
const HOME: u32 = 0;
const ELSEWHERE: u32 = 1;
const OWN: Own = Own { context: 8, source: 0, home: HOME };

/// What waits on a VNI: numbered receives and messages with their tags.
#[derive(Default)]
struct Waiting {
    posted: Vec<(i32, u32)>,
    unexpected: Vec<(u64, i32, u32)>,
    /// Receives and the messages that they have got.
    met: Vec<(u32, u32)>,
}

struct Vni(Mutex<Waiting>);

impl Place for Vni {
    type Inside = Waiting;
    type Key = i32;
    type Message = u32;

    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Waiting) -> R + Send) -> R {
        operation(&mut self.0.lock().expect("not poisoned"))
    }

    fn take_out(inside: &mut Waiting, own: Own) -> Moved<i32, u32> {
        assert_eq!((own.context, own.source), (OWN.context, OWN.source));
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
    layout: Layout,
    vnis: [Vni; 2],
}

fn vni_of(tag: i32) -> u32 {
    if tag == 1 { ELSEWHERE } else { HOME }
}

impl Model {
    fn new(is_spread: bool) -> Arc<Model> {
        let layout = Layout::settled();
        allow_moves();
        layout.begin(true);
        let vnis = [(); 2].map(|()| Vni(Mutex::default()));
        let model = Arc::new(Model { layout, vnis });
        if is_spread {
            model.spread();
        }
        model
    }

    fn spread(&self) {
        self.layout.spread(&Mover::wait(), &self.vnis, OWN, |tag| vni_of(*tag));
    }

    fn settle(&self) {
        self.layout.settle(&Mover::wait(), &self.vnis, OWN);
    }

    /// Runs something where a tag's messages are; it is told whether they are spread.
    fn at(&self, tag: i32, operation: impl Fn(&mut Waiting, bool) + Sync) {
        while let Some(route) = self.layout.route(HOME, || vni_of(tag)) {
            let done = self.vnis[route.vni() as usize].enter(|waiting| {
                let holds = route.holds();
                if holds {
                    route.note_sender();
                    operation(waiting, route.is_spread());
                }
                holds
            });
            if done {
                assert!(!route.is_crowded(), "two threads have not taken turns so often");
                return;
            }
        }
        self.vnis[HOME as usize].enter(|waiting| operation(waiting, false));
    }

    fn send(&self, tag: i32, message: u32) {
        self.at(tag, |waiting, stamped| waiting.send(tag, message, stamped));
    }

    fn receive(&self, tag: i32, receive: u32) {
        self.at(tag, |waiting, _| waiting.receive(tag, receive));
    }

    /// The messages that are there, as a receive with wildcards gets them one after the other.
    fn all_messages(&self) -> Vec<u32> {
        self.settle();
        self.vnis[HOME as usize].enter(|home| home.unexpected.iter().map(|(.., message)| *message).collect())
    }

    fn all_met(&self) -> Vec<(u32, u32)> {
        let met = |vni: &Vni| vni.enter(|waiting| waiting.met.clone());
        let mut all: Vec<_> = self.vnis.iter().flat_map(met).collect();
        all.sort_unstable();
        all
    }
}

/// One thread sends messages with these tags, another one moves them.
fn sender_and_mover(tags: &'static [i32], is_spread: bool, moves: &'static [fn(&Model)]) {
    let model = Model::new(is_spread);
    let sender = Arc::clone(&model);
    let sender = thread::spawn(move || (0..).zip(tags).for_each(|(number, tag)| sender.send(*tag, number)));
    moves.iter().for_each(|change| change(&model));
    sender.join().expect("sender");
    let expected: Vec<u32> = (0..tags.len() as u32).collect();
    assert_eq!(model.all_messages(), expected, "{OVERTAKEN}");
}

/// One thread receives, another one sends, a third one moves what waits.
fn receiver_sender_and_mover(is_spread: bool, change: fn(&Model)) {
    let model = Model::new(is_spread);
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
fn messages_are_in_order_while_they_are_spread() {
    explore(None, || sender_and_mover(&[1, 1], false, &[Model::spread]));
    explore(None, || sender_and_mover(&[1, 0, 1], false, &[Model::spread]));
}

#[test]
fn messages_are_in_order_while_they_come_home() {
    explore(None, || sender_and_mover(&[1, 1], true, &[Model::settle]));
    explore(None, || sender_and_mover(&[1, 0, 1], true, &[Model::settle]));
}

#[test]
fn messages_are_in_order_while_both_happens() {
    explore(Some(3), || sender_and_mover(&[1, 0, 1], false, &[Model::spread, Model::settle]));
}

#[test]
fn each_receive_gets_its_message() {
    explore(Some(3), || receiver_sender_and_mover(false, Model::spread));
    explore(Some(3), || receiver_sender_and_mover(true, Model::settle));
}

#[test]
fn two_may_move_at_once() {
    explore(Some(3), || {
        let model = Model::new(false);
        let others = [Model::spread, Model::settle].map(|change| {
            let model = Arc::clone(&model);
            thread::spawn(move || change(&model))
        });
        model.send(1, 0);
        model.send(0, 1);
        others.into_iter().for_each(|other| other.join().expect("mover"));
        assert_eq!(model.all_messages(), [0, 1]);
    });
}

must_fail!(a_change_before_the_move_is_found, Fault::SpreadBeforeMoved, OVERTAKEN, || {
    sender_and_mover(&[1, 1], false, &[Model::spread]);
});

must_fail!(a_change_after_the_move_is_found, Fault::SettledOnceMoved, OVERTAKEN, || {
    sender_and_mover(&[1, 1], true, &[Model::settle]);
});

must_fail!(a_route_not_looked_at_again_is_found, Fault::RouteNotLookedAtAgain, OVERTAKEN, || {
    sender_and_mover(&[1, 1], true, &[Model::settle]);
});
