//! Tests: unexpected messages keep within their bound, none is lost, and a message behind them is found.

use super::Vni;
use super::core::Core;
use super::interface::{State, apart};
use super::ranks::{self, bounded_ranks, models};
use crate::request::{self, RequestId};
use heddle_model::{Model, Path, Whole};
use heddle_transport::Fabric;

/// The bound on unexpected messages.
const BOUND: usize = 100_000;
/// A ring takes no more small messages than this before its sender refreshes its credits.
const LAP: usize = 512;
/// The bytes that the smallest unexpected message takes, at least.
const LEAST: usize = 100;
const MESSAGES: usize = 5000;
const SIZES: [usize; 6] = [0, 8, 40, 41, 1000, 32 << 10];

type Ranks = [(Fabric, Vni); 2];

fn value(number: usize) -> u8 {
    (number % 251) as u8
}

fn throttles(vni: &Vni) -> bool {
    run!(vni, Main, core => core.throttle.is_raised())
}

/// Rank 0 sends messages of `len` bytes, `to` rank 1 or itself, and the last one with another tag. Returns the requests of the
/// sends that wait.
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
        let (outcome, _) = request::consume(*id).expect("nobody else took it");
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
    // SAFETY: as above.
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
    // SAFETY: as above.
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

/// A sender that is throttled sends synchronous messages, and messages for which no copy can be made, as ever.
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
