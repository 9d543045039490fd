//! Tests: a cancelled send is either not received at all or completes as usual, however far it has come.

use super::ranks::{self, CONTEXT, bounded_ranks, models};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, RequestId, RequestKind};
use crate::vni::Vni;
use crate::vni::message::SendArgs;
use heddle_model::Model;
use heddle_transport::Fabric;

const LARGE: usize = 200_000;
/// Lengths of synchronous messages, which are eager or by rendezvous.
const SIZES: [usize; 4] = [0, 8, 1000, LARGE];

struct Ends {
    sender: (Fabric, Vni),
    receiver: (Fabric, Vni),
}

impl Ends {
    fn new(model: &Model) -> Ends {
        let [sender, receiver] = bounded_ranks(model, usize::MAX);
        Ends { sender, receiver }
    }

    /// Sends in synchronous mode, to the receiver or to itself.
    fn send(&self, to: usize, bytes: &mut [u8]) -> RequestId {
        // SAFETY: the bytes outlive the operation, which ends in the test that has them.
        let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
        let (synchronous, keep) = (true, None);
        let args = SendArgs { buffer, peer: to, context: CONTEXT, source: 0, tag: 5, synchronous, keep };
        let send = self.sender.1.send(args, || request::take(0, 0, RequestKind::Send)).expect("a request");
        send.expect("it waits for its match")
    }

    fn receive(&self, bytes: &mut [u8]) -> RequestId {
        // SAFETY: the bytes outlive the operation, which ends in the test that has them.
        unsafe { ranks::receive(&self.receiver.1, 5, bytes) }
    }

    fn cancel(&self, id: RequestId) {
        if request::peer_of(id) == 0 {
            self.sender.1.cancel_send_to_self(id);
        } else {
            self.sender.1.cancel_send(id);
        }
    }

    /// Makes progress until the request is complete. Returns true if it was cancelled.
    fn is_cancelled(&self, id: RequestId) -> bool {
        while !request::is_complete(id) {
            self.receiver.1.progress();
            self.sender.1.progress();
        }
        let (outcome, _) = request::consume(id).expect("no other thread took it");
        assert_eq!(outcome.error, None);
        outcome.cancelled
    }
}

#[test]
fn a_message_that_waits_at_its_receiver_is_withdrawn_and_the_next_one_is_received() {
    for model in models() {
        let ends = Ends::new(&model);
        for len in SIZES {
            let (mut first, mut second, mut third, mut into) =
                (vec![1; len], vec![2; len], vec![3; len], vec![0; len]);
            let sends = [ends.send(1, &mut first), ends.send(1, &mut second), ends.send(1, &mut third)];
            assert!(ends.receiver.1.progress(), "the messages have come");
            ends.cancel(sends[1]);
            ends.cancel(sends[1]);
            assert!(!request::is_complete(sends[1]), "its receiver has not answered");
            assert!(ends.is_cancelled(sends[1]));
            for (number, send) in [(1, sends[0]), (3, sends[2])] {
                let receive = ends.receive(&mut into);
                assert!(!ends.is_cancelled(receive) && !ends.is_cancelled(send));
                assert!(into.iter().all(|byte| *byte == number), "{len} bytes");
            }
            assert!(ends.receiver.1.peek(Key::new(CONTEXT, 0, 5)).is_none());
            assert!(!ends.sender.1.has_offers() && ends.sender.1.is_drained());
        }
    }
}

#[test]
fn a_send_that_was_matched_completes_whatever_crosses_its_withdrawal() {
    for model in models() {
        for (single_copies, len) in [(true, LARGE), (false, LARGE), (true, 0), (true, 8), (true, 1000)] {
            let ends = Ends::new(&model);
            if !single_copies {
                ends.receiver.0.forbid_single_copies();
            }
            // The receiver's steps before the withdrawal, and the sender's after them.
            for (receiver_steps, sender_steps) in (0..4).flat_map(|n| (0..4).map(move |m| (n, m))) {
                let (mut from, mut into) = (vec![7; len], vec![0; len]);
                let (receive, send) = (ends.receive(&mut into), ends.send(1, &mut from));
                (0..receiver_steps).for_each(|_| _ = ends.receiver.1.progress());
                (0..sender_steps).for_each(|_| _ = ends.sender.1.progress());
                ends.cancel(send);
                assert!(!ends.is_cancelled(send), "its receive was posted");
                assert!(!ends.is_cancelled(receive) && into == from);
                assert!(!ends.sender.1.has_offers() && ends.sender.1.is_drained());
            }
        }
    }
}

#[test]
fn a_send_that_waits_for_room_is_cancelled_without_its_receiver() {
    for model in models() {
        let ends = Ends::new(&model);
        let mut byte = [9];
        let sends: Vec<RequestId> = (0..600).map(|_| ends.send(1, &mut byte)).collect();
        // A ring has room for 256 of them.
        let (told, waiting) = sends.split_at(256);
        for send in waiting.iter().rev() {
            ends.cancel(*send);
            assert!(request::is_complete(*send));
            assert!(ends.is_cancelled(*send));
        }
        assert!(ends.sender.1.is_drained());
        let mut into = [0];
        for send in told {
            let receive = ends.receive(&mut into);
            assert!(!ends.is_cancelled(receive) && !ends.is_cancelled(*send));
        }
    }
}

#[test]
fn a_self_message_that_waits_is_cancelled_at_once() {
    for model in models() {
        let ends = Ends::new(&model);
        for len in SIZES {
            let (mut first, mut second, mut into) = (vec![1; len], vec![2; len], vec![0; len]);
            let sends = [ends.send(0, &mut first), ends.send(0, &mut second)];
            ends.cancel(sends[0]);
            assert!(request::is_complete(sends[0]) && ends.is_cancelled(sends[0]));
            // SAFETY: the bytes outlive the operation, which ends here.
            let receive = unsafe { ranks::receive(&ends.sender.1, 5, &mut into) };
            ends.cancel(sends[1]);
            assert!(!ends.is_cancelled(receive) && !ends.is_cancelled(sends[1]));
            assert!(into == second);
        }
    }
}
