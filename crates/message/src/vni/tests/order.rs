//! Messages to one peer leave in the order in which a thread sends them, also when some find no room.

use super::ranks::{self, models, ranks};
use crate::buffer::Buffer;
use crate::request::{self, RequestId};
use crate::vni::{Vni, eager_header};
use heddle_model::{Attempt, Model, Path};

/// Sends a message of `len` bytes that begins with a number; returns its request if it has to wait.
fn send(from: &Vni, number: u32, len: usize) -> Option<RequestId> {
    let data = Box::leak(vec![0; len].into_boxed_slice());
    data[..4].copy_from_slice(&number.to_ne_bytes());
    // SAFETY: the bytes are never freed.
    unsafe { ranks::send(from, 1, 0, 5, data) }
}

/// Sends messages of `len` bytes until three wait for room; then there is room again. Before anything drains,
/// `overtake` may try to send the last message, a small one, which then waits behind the others.
fn none_overtakes_those_that_wait(model: &Model, len: usize, overtake: impl FnOnce(&Vni, &mut [u8; 4])) {
    let [(_, sender), (_, receiver)] = ranks(model);
    let (mut sent, mut waiting) = (0, Vec::new());
    while waiting.len() < 3 {
        waiting.extend(send(&sender, sent, len));
        sent += 1;
    }
    while receiver.poll_for_certain() {}
    overtake(&sender, &mut sent.to_ne_bytes());
    waiting.push(send(&sender, sent, 4).expect("it waits behind the others"));
    for number in 0..=sent {
        let mut into = vec![0; len];
        // SAFETY: the bytes outlive the operation, which is complete before the next round.
        let id = unsafe { ranks::receive(&receiver, 5, &mut into) };
        while !request::is_complete(id) {
            sender.poll_for_certain();
            receiver.poll_for_certain();
        }
        request::consume(id).expect("no other thread took it");
        assert_eq!(into[..4], number.to_ne_bytes(), "{len} bytes under {model}");
    }
    for id in waiting {
        request::consume(id).expect("it was sent");
    }
}

/// Each model, with messages within slots, and with messages in the bulk area, which is full when slots are
/// left.
fn each() -> impl Iterator<Item = (Model, usize)> {
    models().into_iter().flat_map(|model| [(model, 4), (model, 30_000)])
}

#[test]
fn no_message_overtakes_one_that_waits_for_room() {
    for (model, len) in each() {
        none_overtakes_those_that_wait(&model, len, |_, _| ());
    }
}

#[test]
fn the_quick_ways_to_send_refuse_to_overtake() {
    for (model, len) in each() {
        none_overtakes_those_that_wait(&model, len, |sender, bytes| {
            let header = eager_header(ranks::CONTEXT, 0, 5);
            for attempt in [Attempt::Bias, Attempt::Lock] {
                // SAFETY: the bytes are valid, and the receiver is another rank.
                let sent = unsafe { sender.send_express(attempt, 1, &header, bytes.as_ptr(), bytes.len()) };
                assert!(sent.is_err(), "{attempt:?} under {model}");
            }
            // SAFETY: the bytes outlive the call, after which nothing uses the buffer.
            let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
            assert!(!sender.send_at_once(1, header, buffer), "at once under {model}");
            if let Some(to) = sender.peer_apart(1) {
                // As a thread that has not seen that messages are queued.
                let apart = to.channel.section();
                let sent = apart.with_lock(Path::Main, |channel| channel.send_at_once(&header, buffer));
                assert!(!sent, "at once apart under {model}");
                let args = ranks::send_args(1, 0, 5, buffer);
                assert!(
                    !apart.with_lock(Path::Main, |channel| channel.send_eager(&args)),
                    "apart under {model}"
                );
            }
        });
    }
}
