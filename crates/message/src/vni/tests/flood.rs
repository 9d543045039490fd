//! Tests: unexpected messages keep within their bound, none is lost, and a message behind them is found.

use super::ranks::{self, CONTEXT, bounded_ranks, models};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, Found, RequestId};
use crate::vni::core::Core;
use crate::vni::interface::{VniState, apart};
use crate::vni::{INLINE_BYTES, Vni, eager_header};
use heddle_model::{Attempt, Model, Path, Whole};
use heddle_objects::resharding::Sharding;
use heddle_transport::Fabric;

/// The bound on unexpected messages.
const BOUND: usize = 100_000;
/// The largest number of small messages that a ring takes before its sender refreshes its credits.
const LAP: usize = 512;
/// A lower bound of the bytes that the smallest unexpected message takes.
const LEAST: usize = 100;
const MESSAGES: usize = 5000;
const SIZES: [usize; 6] = [0, 8, 40, 41, 1000, 32 << 10];

/// The attempts of a call, in their order.
const ATTEMPTS: [Attempt; 2] = [Attempt::Bias, Attempt::Lock];

type Ranks = [(Fabric, Vni); 2];

fn value(number: usize) -> u8 {
    (number % 251) as u8
}

fn throttles(vni: &Vni) -> bool {
    run!(vni, Main, core => core.throttle.is_raised())
}

/// Rank 0 sends messages of `len` bytes, `to` rank 1 or itself, and the last one with another tag. Returns
/// the requests of the sends that wait.
fn flood(from: &(Fabric, Vni), to: &(Fabric, Vni), data: &mut [Vec<u8>]) -> Vec<RequestId> {
    let mut waiting = Vec::new();
    let last = data.len() - 1;
    for (number, bytes) in data.iter_mut().enumerate() {
        let tag = if number == last { 6 } else { 5 };
        // SAFETY: the bytes outlive the operation, which ends in the test that has them.
        waiting.extend(unsafe { ranks::send(&from.1, to.0.rank(), 0, tag, bytes) });
        from.1.progress();
        to.1.progress();
    }
    waiting
}

fn complete(ranks: &Ranks, ids: &[RequestId]) {
    while !ids.iter().all(|id| request::is_complete(*id)) {
        ranks.iter().for_each(|(_, vni)| _ = vni.progress());
    }
    for id in ids {
        let (outcome, _) = request::consume(*id).expect("no other thread took it");
        assert_eq!(outcome.error, None);
    }
}

fn keeps_within_the_bound(model: &Model, receiver: usize, len: usize) {
    let ranks: Ranks = bounded_ranks(model, BOUND);
    let [sender, _] = &ranks;
    let receiver = &ranks[receiver];
    let mut data: Vec<Vec<u8>> = (0..MESSAGES).map(|number| vec![value(number); len]).collect();
    let sends = flood(sender, receiver, &mut data);
    assert!(throttles(&receiver.1));
    let eager = MESSAGES - sends.len();
    let kept = BOUND + BOUND / 8;
    assert!(
        eager <= kept / (LEAST + if len > 40 { len } else { 0 }) + LAP,
        "{eager} of {len} bytes are stored"
    );
    assert!(eager > BOUND / 2 / (112 + len), "only {eager} of {len} bytes are stored");

    // The message behind them all is found first.
    let mut into: Vec<Vec<u8>> = vec![vec![0; len]; MESSAGES];
    let (last, others) = into.split_last_mut().expect("messages");
    // SAFETY: the bytes outlive the operation, which ends here.
    complete(&ranks, &[unsafe { ranks::receive(&receiver.1, 6, last) }]);
    // SAFETY: the bytes outlive the operation, which ends here.
    let receives: Vec<_> =
        others.iter_mut().map(|to| unsafe { ranks::receive(&receiver.1, 5, to) }).collect();
    complete(&ranks, &receives);
    complete(&ranks, &sends);
    for (number, bytes) in into.iter().enumerate() {
        assert!(bytes.iter().all(|byte| *byte == value(number)), "message {number}");
    }

    assert!(!throttles(&receiver.1), "all are received");
    assert!(sender.1.is_drained() && !sender.1.has_offers());
    // SAFETY: the bytes outlive the operations, which end here.
    let send = unsafe { ranks::send(&sender.1, receiver.0.rank(), 0, 5, &mut data[1]) };
    assert_eq!(send, None, "there is room again");
    // SAFETY: the bytes outlive the operation, which ends here.
    complete(&ranks, &[unsafe { ranks::receive(&receiver.1, 5, &mut into[1]) }]);
}

#[test]
fn of_messages_from_another_process_no_more_than_the_bound_are_stored() {
    for model in models() {
        SIZES.iter().for_each(|len| keeps_within_the_bound(&model, 1, *len));
    }
}

#[test]
fn of_self_messages_no_more_than_the_bound_are_stored() {
    for model in models() {
        SIZES.iter().for_each(|len| keeps_within_the_bound(&model, 0, *len));
    }
}

/// A throttled sender still sends synchronous messages, and messages for which no single copy can be made.
#[test]
fn messages_to_a_throttling_receiver_arrive_without_single_copies_and_in_all_modes() {
    for model in models() {
        let ranks: Ranks = bounded_ranks(&model, 0);
        ranks.iter().for_each(|(fabric, _)| fabric.forbid_single_copies());
        for len in SIZES {
            let mut data: Vec<Vec<u8>> = (0..MESSAGES / 5).map(|number| vec![value(number); len]).collect();
            let sends = flood(&ranks[0], &ranks[1], &mut data);
            assert!(sends.len() >= MESSAGES / 5 - LAP);
            let mut into: Vec<Vec<u8>> = vec![vec![0; len]; data.len()];
            let receives: Vec<_> = into
                .iter_mut()
                .enumerate()
                // SAFETY: the bytes outlive the operation, which ends here.
                .map(|(n, to)| unsafe {
                    ranks::receive(&ranks[1].1, if n + 1 == data.len() { 6 } else { 5 }, to)
                })
                .collect();
            complete(&ranks, &receives);
            complete(&ranks, &sends);
            assert!(into == data);
        }
    }
}

/// The express path between rank 0 and a receiver, which may be rank 0 itself.
struct Express<'a> {
    sender: &'a (Fabric, Vni),
    receiver: &'a (Fabric, Vni),
    /// Says that the self messages are pinned.
    sharding: Sharding,
}

impl Express<'_> {
    fn is_to_self(&self) -> bool {
        self.sender.0.rank() == self.receiver.0.rank()
    }

    fn key(&self) -> Key {
        Key::new(CONTEXT, 0, 5)
    }

    /// Sends by the express path. The first message to a peer, and one at the end of a lap of the ring, takes
    /// the general path, if the receiver does not throttle its senders.
    fn send(&self, bytes: &mut [u8]) -> bool {
        let sent = ATTEMPTS.iter().any(|attempt| self.send_express(*attempt, bytes));
        sent || !self.is_to_self()
            && !throttles(&self.receiver.1)
            // SAFETY: the bytes are a slice, and the message is copied.
            && unsafe { ranks::send(&self.sender.1, self.receiver.0.rank(), 0, 5, bytes) }.is_none()
    }

    fn send_express(&self, attempt: Attempt, bytes: &[u8]) -> bool {
        let (vni, from, len) = (&self.sender.1, bytes.as_ptr(), bytes.len());
        if self.is_to_self() {
            let route = self.sharding.route_to_default(0).expect("not sharded");
            // SAFETY: the bytes are a slice.
            return unsafe { vni.send_to_self_express(attempt, &self.key(), from, len, route) }.is_ok();
        }
        let header = eager_header(CONTEXT, 0, 5);
        // SAFETY: the bytes are a slice, and the receiver is another rank.
        unsafe { vni.send_express(attempt, self.receiver.0.rank(), &header, from, len) }.is_ok()
    }

    /// Receives without a request.
    fn take(&self, into: &mut [u8]) -> bool {
        let route = self.is_to_self().then(|| self.sharding.route_to_default(0).expect("not sharded"));
        // SAFETY: the bytes outlive the call.
        let buffer = unsafe { Buffer::bytes(into.as_mut_ptr(), into.len()) };
        let vni = &self.receiver.1;
        ATTEMPTS.iter().any(|attempt| vni.take_express(*attempt, &self.key(), buffer, route).is_ok())
    }

    /// Receives with a request, which is issued by the general path if the express path has none.
    fn receive(&self, into: &mut [u8]) -> RequestId {
        let route = self.is_to_self().then(|| self.sharding.route_to_default(0).expect("not sharded"));
        // SAFETY: the bytes outlive the operation, which ends in the test that has them.
        let buffer = unsafe { Buffer::bytes(into.as_mut_ptr(), into.len()) };
        let vni = &self.receiver.1;
        let issue = |attempt: &Attempt| vni.receive_express(*attempt, &self.key(), buffer, 0, route).ok();
        match ATTEMPTS.iter().find_map(issue).map(request::find) {
            Some(Ok(Found::Slot(id))) => id,
            Some(other) => panic!("a new request is {other:?}"),
            // SAFETY: the bytes outlive the operation, which ends in the test that has them.
            None => unsafe { ranks::receive(vni, 5, into) },
        }
    }
}

fn express_keeps_within_the_bound(receiver: usize, len: usize) {
    let ranks: Ranks = bounded_ranks(&Model::default(), BOUND);
    let path = Express { sender: &ranks[0], receiver: &ranks[receiver], sharding: Sharding::pinned() };
    let vni = &path.receiver.1;
    for round in 0..3 {
        let eager = (0..MESSAGES)
            .take_while(|number| {
                let sent = path.send(&mut vec![value(*number); len]);
                vni.progress();
                sent
            })
            .count();
        assert!(throttles(vni) && !path.send(&mut vec![0; len]), "round {round}");
        assert!(eager <= (BOUND + BOUND / 8) / LEAST + LAP, "{eager} of {len} bytes are stored");
        assert!(eager > BOUND / 2 / (112 + len), "only {eager} of {len} bytes are stored");

        // The general path offers the next one by rendezvous, or leaves it in the sender's buffer.
        let (mut last, mut into) = (vec![value(eager); len], vec![0; len]);
        // SAFETY: the bytes outlive the operation, which ends in this round.
        let send = unsafe { ranks::send(&path.sender.1, path.receiver.0.rank(), 0, 5, &mut last) };
        let send = send.expect("it waits for its receive");
        vni.progress();
        for number in 0..eager {
            into.fill(0);
            if number % 3 == 0 {
                complete(&ranks, &[path.receive(&mut into)]);
            } else {
                assert!(path.take(&mut into), "message {number}");
            }
            assert!(into.iter().all(|byte| *byte == value(number)), "message {number}");
        }
        assert!(!path.take(&mut into), "it is not small");
        complete(&ranks, &[path.receive(&mut into), send]);
        assert!(into == last && !throttles(vni));
    }
}

#[test]
fn the_express_path_stores_no_more_than_the_bound_and_makes_room_again() {
    for len in [1, 8, 9, INLINE_BYTES] {
        express_keeps_within_the_bound(0, len);
        express_keeps_within_the_bound(1, len);
    }
}

/// A receive that is posted takes its message from a throttled sender of the same process: nothing is stored.
#[test]
fn a_self_message_whose_receive_is_posted_takes_the_express_path_beyond_the_bound() {
    let ranks: Ranks = bounded_ranks(&Model::default(), 0);
    let path = Express { sender: &ranks[0], receiver: &ranks[0], sharding: Sharding::pinned() };
    assert!(path.send(&mut [1]) && throttles(&ranks[0].1));
    let (mut first, mut second) = ([0], [0]);
    let receives = [path.receive(&mut first), path.receive(&mut second)];
    assert!(!throttles(&ranks[0].1));
    assert!(path.send(&mut [2]));
    complete(&ranks, &receives);
    assert_eq!((first, second), ([1], [2]));
}

fn a_message_is_offered_once_there_is_room(model: &Model) {
    let ranks: Ranks = bounded_ranks(model, usize::MAX);
    let [(_, sender), (_, receiver)] = &ranks;
    let (mut small, mut large, mut into) = ([1; 8], vec![2; 100_000], vec![0; 100_000]);
    // SAFETY: the bytes outlive the operations, which are complete when these calls return.
    let buffer = unsafe { Buffer::bytes(small.as_mut_ptr(), small.len()) };
    while sender.send_at_once(1, eager_header(CONTEXT, 0, 5), buffer) {}
    // SAFETY: the bytes outlive the operation, which ends here.
    let send = unsafe { ranks::send(sender, 1, 0, 6, &mut large) }.expect("it is long");
    for _ in 0..3 {
        assert!(!sender.has_offers(), "its receiver has not been told of it");
        sender.progress();
    }
    // SAFETY: the bytes outlive the operation, which ends here.
    let receive = unsafe { ranks::receive(receiver, 6, &mut into) };
    complete(&ranks, &[send, receive]);
    assert!(!sender.has_offers() && into == large);
}

#[test]
fn a_large_message_that_waits_for_room_is_no_offer() {
    models().iter().for_each(a_message_is_offered_once_there_is_room);
}
