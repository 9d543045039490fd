//! Messages that break the rules: written by hand, and random ones.

use super::*;
use crate::vni::Vni;
use crate::vni::tests::ranks::{self, models, ranks};
use heddle_transport::{Envelope, Fabric, Header, Outbox, RingAccess, Traffic};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const ANSWERS: [u8; 6] = [wire::CTS, wire::DATA, wire::PUSH, wire::PUSHED, wire::FIN, wire::WITHDRAWN];

/// A larger number than that of any request in these tests.
const NOBODY: u64 = 1 << 23;

/// Rank 0, which may write anything, and rank 1.
struct Ranks {
    liar: Fabric,
    outbox: Outbox,
    reader: Vni,
    fabric: Fabric,
}

impl Ranks {
    fn new(model: &heddle_model::Model) -> Ranks {
        let [(liar, _), (fabric, reader)] = ranks(model);
        Ranks { outbox: Outbox::new(&Arc::new(liar.clone()), 0, 1), liar, reader, fabric }
    }

    /// Sends a message of a protocol with these words, or with a payload and the words beside it.
    fn send(&mut self, kind: u8, words: &[u64], payload: Option<usize>) {
        let header = Header { kind, aux: 0, context: ranks::CONTEXT, envelope: Envelope::new(0, 5) };
        assert!(self.send_with(&header, words, payload), "there is room");
    }

    /// Sends a message with any header; returns false if there is no room.
    fn send_with(&mut self, header: &Header, words: &[u64], payload: Option<usize>) -> bool {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        match payload {
            // SAFETY: `fill` gets room for the bytes announced.
            None => self.outbox.send_inline(header, bytes.len(), |to| unsafe {
                to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }),
            Some(len) => {
                let extra = bytes.try_into().expect("three words");
                let traffic = Traffic::Eager;
                // SAFETY: `fill` gets room for the bytes announced.
                self.outbox.send_bulk(traffic, header, len, &extra, |to, _| unsafe { to.write_bytes(1, len) })
            }
        }
    }

    /// Returns the message with which the reader ends the job when it reads the next message.
    fn refused(&self) -> String {
        let ended = catch_unwind(AssertUnwindSafe(|| self.reader.poll_for_certain()));
        *ended.expect_err("it was followed").downcast::<String>().expect("a message")
    }
}

#[test]
fn messages_of_unknown_kind_or_form_are_refused() {
    for model in models() {
        for (kind, words, payload, says) in [
            (99, vec![0; 3], None, "kind 99"),
            (wire::RTS, vec![0], None, "kind 3 has 8 bytes"),
            (wire::RTS, vec![0; 3], Some(100), "kind 3 has 100 bytes"),
            (wire::CTS, vec![0; 5], None, "kind 4 has 40 bytes"),
            (wire::DATA, vec![0; 3], None, "kind 5 has 24 bytes"),
            (wire::SYNC, vec![0; 1], None, "kind 2 has 8 bytes"),
            (wire::FETCH, vec![0; 3], Some(100), "kind 13 has 100 bytes"),
            (wire::STORE, vec![0; 3], None, "kind 14 has 24 bytes"),
            (wire::FETCH, vec![0, 8, 1], None, "kind 13 names operation"),
            (wire::FETCH, vec![u64::MAX, 8, 1], None, "kind 13 names operation"),
            (wire::STORE, vec![u64::MAX, 1, 1], Some(8), "kind 14 names operation"),
        ] {
            let mut ranks = Ranks::new(&model);
            ranks.send(kind, &words, payload);
            let text = ranks.refused();
            assert!(text.contains("rank 0 has written") && text.contains(says), "{says}: {text}");
        }
    }
}

#[test]
fn answers_that_nobody_waits_for_are_refused() {
    for model in models() {
        for number in [NOBODY, u64::from(u32::MAX), u64::MAX] {
            for kind in ANSWERS {
                let mut ranks = Ranks::new(&model);
                ranks.send(kind, &[number, 0, 0], (kind == wire::DATA).then_some(10));
                let (text, says) = (ranks.refused(), format!("kind {kind} names operation"));
                assert!(text.contains(&says), "{says}: {text}");
            }
        }
    }
}

#[test]
fn answers_to_other_operations_than_those_that_wait_are_refused() {
    for model in models() {
        // A receive that is posted, and has no sender yet.
        let mut bytes = [0; 1000];
        for kind in ANSWERS {
            let mut ranks = Ranks::new(&model);
            // SAFETY: the bytes outlive the operation: nothing is written to them
            // after the reader has ended.
            let id = unsafe { ranks::receive(&ranks.reader, 7, &mut bytes) };
            ranks.send(kind, &[u64::from(id), 0, 0], (kind == wire::DATA).then_some(100));
            assert!(ranks.refused().contains("which does not wait for it"));
        }
    }
}

#[test]
fn pieces_and_wishes_beyond_the_buffer_are_refused() {
    const LEN: usize = 100_000;
    for model in models() {
        for (offset, len) in [(LEN as u64, 1), (LEN as u64 - 10, 11), (u64::MAX, 1), (0, 30_000)] {
            let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; LEN]);
            // SAFETY: the bytes outlive the operation.
            let id = unsafe { ranks::receive(&ranks.reader, 5, &mut bytes) };
            // The data does not lie in one piece, so the reader asks for pieces.
            ranks.send(wire::RTS, &[LEN as u64, 0, 17], None);
            assert!(ranks.reader.poll_for_certain());
            let words = [u64::from(id), offset, 0];
            for _ in 0..if offset == 0 { 3 } else { 0 } {
                ranks.send(wire::DATA, &words, Some(len));
                assert!(ranks.reader.poll_for_certain(), "so far it has room");
            }
            ranks.send(wire::DATA, &words, Some(len));
            assert!(ranks.refused().contains("kind 5 names operation"));
        }
        let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; LEN]);
        // SAFETY: the bytes outlive the operation.
        let id =
            unsafe { ranks::send(&ranks.reader, 0, 1, 5, &mut bytes) }.expect("too large to be sent at once");
        ranks.send(wire::CTS, &[u64::from(id), 3, LEN as u64 + 1], None);
        assert!(ranks.refused().contains("kind 4 names operation"));
        assert_eq!(ranks.liar.rank(), 0);
    }
}

#[test]
fn pieces_that_no_receive_has_asked_for_are_refused() {
    for model in models() {
        let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; 1000]);
        // SAFETY: the bytes outlive the operation.
        let id = unsafe { ranks::receive(&ranks.reader, 5, &mut bytes) };
        // Without single copy the offer would make it ask for pieces.
        let copies = ranks.fabric.copy_partner(0).is_some();
        if copies {
            // The reader is about to copy the data: a receive that ended before would be written to.
            ranks.send(wire::RTS, &[1000, bytes.as_ptr().addr() as u64, 17], None);
        }
        ranks.send(wire::DATA, &[u64::from(id), 0, 0], Some(if copies { 1000 } else { 0 }));
        assert!(ranks.refused().contains("kind 5 names operation"));
    }
}

#[test]
fn answers_to_a_send_whose_data_is_on_its_way_are_refused() {
    for model in models() {
        for kind in [wire::CTS, wire::PUSH, wire::FIN, wire::WITHDRAWN] {
            // More than the ring takes, so the send is not over after the first answer.
            let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; 16 << 20]);
            // SAFETY: the bytes outlive the operation.
            let id = unsafe { ranks::send(&ranks.reader, 0, 1, 5, &mut bytes) }.expect("too large");
            if kind == wire::WITHDRAWN {
                ranks.reader.cancel_send(id);
            }
            ranks.send(wire::CTS, &[u64::from(id), 3, bytes.len() as u64], None);
            assert!(ranks.reader.poll_for_certain() && !request::is_complete(id));
            ranks.send(kind, &[u64::from(id), 1, 1], None);
            let (text, says) = (ranks.refused(), format!("kind {kind} names operation"));
            assert!(text.contains(&says), "{says}: {text}");
        }
    }
}

/// The bytes of the large operations of the random test.
const LARGE: usize = 100_000;

/// A word of a random message.
#[derive(Debug, Clone, Copy)]
enum Word {
    /// The number of one of the reader's operations.
    Operation(usize),
    /// A number or a length that a buffer may have room for.
    Small(u64),
    /// A number of no operation. As an address it is the kernel's: all ranks of these tests are one
    /// process, so an address that the reader may write to would be one of the test's.
    Huge(u64),
}

impl Word {
    fn value(self, operations: &[RequestId]) -> u64 {
        match self {
            Word::Operation(operation) => u64::from(operations[operation % operations.len()]),
            Word::Small(word) => word,
            Word::Huge(word) => word | 1 << 63,
        }
    }
}

/// A random message, and whether the reader polls before the next one.
#[derive(Debug, Clone)]
struct Lie {
    kind: u8,
    words: Vec<Word>,
    payload: Option<usize>,
    context: u64,
    source: i32,
    tag: i32,
    polled: bool,
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        3 => (0usize..4).prop_map(Word::Operation),
        2 => prop_oneof![Just(0), Just(1), Just(LARGE as u64), 0..2 * LARGE as u64].prop_map(Word::Small),
        1 => prop_oneof![any::<u64>(), Just(u64::MAX)].prop_map(Word::Huge),
    ]
}

fn lie() -> impl Strategy<Value = Lie> {
    // A process of this machine may name any memory of the reader, as it may for the kernel's copies.
    let others = any::<u8>().prop_filter("names memory", |kind| ![wire::FETCH, wire::STORE].contains(kind));
    let kind = prop_oneof![1 => others, 15 => wire::EAGER..=wire::WITHDRAWN];
    let shape = prop_oneof![
        8 => Just((true, 3)),
        1 => (Just(false), 0usize..=5),
    ];
    let len = prop_oneof![Just(0), Just(1), 0usize..20_000];
    let tag = prop_oneof![4 => Just(5), 2 => Just(7), 1 => any::<i32>()];
    let context = prop_oneof![9 => Just(ranks::CONTEXT), 1 => any::<u64>()];
    let source = prop_oneof![9 => Just(0), 1 => any::<i32>()];
    let words = prop::collection::vec(word(), 5);
    (kind, shape, len, words, (context, source, tag), any::<bool>()).prop_map(
        |(kind, (right, count), len, mut words, (context, source, tag), polled)| {
            let bulk = right && matches!(kind, wire::EAGER | wire::SYNC | wire::DATA);
            words.truncate(count);
            Lie { kind, words, payload: bulk.then_some(len), context, source, tag, polled }
        },
    )
}

/// A buffer of an operation, between bytes that nobody may write.
struct Guarded(Vec<u8>);

impl Guarded {
    const MARGIN: usize = 4096;

    fn new(len: usize) -> Guarded {
        Guarded(vec![0xee; len + 2 * Self::MARGIN])
    }

    fn inner(&mut self) -> &mut [u8] {
        let end = self.0.len() - Self::MARGIN;
        &mut self.0[Self::MARGIN..end]
    }

    fn is_intact(&self) -> bool {
        let (front, rest) = self.0.split_at(Self::MARGIN);
        let rear = &rest[rest.len() - Self::MARGIN..];
        front.iter().chain(rear).all(|byte| *byte == 0xee)
    }
}

/// The number of random cases: that of `PROPTEST_CASES`, which the long form of the tests sets, or `usual`.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// The reader has two receives and two sends under way, one of which is withdrawn, while rank 0 writes
    /// anything. It takes each message or refuses it and names rank 0; and it leaves alone what is not a part
    /// of its operations, or not any more.
    #[test]
    fn random_messages_are_followed_or_refused(
        model in 0usize..3,
        lies in prop::collection::vec(lie(), 1..8),
    ) {
        let mut ranks = Ranks::new(&models()[model]);
        let mut buffers = [1000, LARGE, LARGE, LARGE].map(Guarded::new);
        let [small, large, sent, withdrawn] = &mut buffers;
        // SAFETY: the bytes outlive the operation: nothing is written to them after the reader has ended.
        let small = unsafe { ranks::receive(&ranks.reader, 7, small.inner()) };
        // SAFETY: the same.
        let large = unsafe { ranks::receive(&ranks.reader, 5, large.inner()) };
        // SAFETY: the same.
        let sent = unsafe { ranks::send(&ranks.reader, 0, 1, 5, sent.inner()) }.expect("too large");
        // SAFETY: the same.
        let withdrawn = unsafe { ranks::send(&ranks.reader, 0, 1, 6, withdrawn.inner()) }.expect("too large");
        ranks.reader.cancel_send(withdrawn);
        let operations = [small, large, sent, withdrawn];
        let mut ended: [Option<Vec<u8>>; 4] = [const { None }; 4];
        for lie in lies.iter().map(Some).chain([None; 8]) {
            if let Some(lie) = lie {
                let envelope = Envelope::new(lie.source, lie.tag);
                let header = Header { kind: lie.kind, aux: 0, context: lie.context, envelope };
                let mut words: Vec<u64> = lie.words.iter().map(|word| word.value(&operations)).collect();
                if let (true, Some(first)) = (ANSWERS.contains(&lie.kind), words.first_mut()) {
                    // A small number would name an operation of another test, whose memory is not guarded:
                    // all tests of the process share its requests.
                    if !operations.iter().any(|operation| u64::from(*operation) == *first) {
                        *first |= NOBODY;
                    }
                }
                if !ranks.send_with(&header, &words, lie.payload) || !lie.polled {
                    continue;
                }
            }
            let polled = catch_unwind(AssertUnwindSafe(|| ranks.reader.poll_for_certain()));
            prop_assert!(buffers.iter().all(Guarded::is_intact), "bytes outside of the buffers are written");
            for (kept, buffer) in ended.iter().zip(&buffers) {
                prop_assert!(kept.as_ref().is_none_or(|kept| *kept == buffer.0), "written after its end");
            }
            if let Err(refused) = polled {
                let text = refused.downcast::<String>().map_or_else(|_| String::new(), |text| *text);
                prop_assert!(text.contains("rank 0 has written"), "not a refusal: {text}");
                return Ok(());
            }
            for ((id, kept), buffer) in operations.iter().zip(&mut ended).zip(&mut buffers) {
                if kept.is_none() && request::is_complete(*id) {
                    // What the program writes to its buffer after the end of the operation stays.
                    buffer.inner().fill(0x11);
                    *kept = Some(buffer.0.clone());
                }
            }
        }
    }
}
