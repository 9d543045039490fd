//! The ports for one-sided operations of two ranks of one process.

use super::{ALIKE, LocalRanks, RANKS, fail, provider};
use crate::network::one_sided::{Handler, OneSided, Polled, Request};
use crate::network::port::{CopyDirection, Opened, ProcessInfo, RemoteCopy};
use crate::ring::Incoming;
use crate::slot::{EXTRA_BYTES, Envelope, Header};
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Answers a request by its first word and 1, and adds up the words of answers.
struct Adder {
    port: Arc<OnceLock<Arc<OneSided>>>,
    sum: Arc<AtomicU64>,
}

const REQUEST: u8 = 1;
const ANSWER: u8 = 2;

fn message(kind: u8, word: u64, len: usize) -> Request {
    let header = Header { kind, aux: 0, context: 0, envelope: Envelope::new(0, 0) };
    Request { header, words: [word, 0, 0], len }
}

impl Handler for Adder {
    fn handle(&self, sender: usize, incoming: &Incoming) {
        let word = u64::from_ne_bytes(*incoming.extra().first_chunk().expect("a word"));
        let port = self.port.get().expect("it is open");
        if incoming.header.kind == REQUEST {
            assert!(incoming.payload().iter().all(|byte| *byte == word as u8));
            assert!(port.send(sender, &message(ANSWER, word + 1, 0), |_| {}), "there is room");
        } else {
            self.sum.fetch_add(word, Ordering::SeqCst);
        }
    }

    fn are_handled(&self) {}
}

/// The port of a rank, and the sum of its answers.
fn one_sided(rank: u32) -> (Arc<OneSided>, Arc<AtomicU64>) {
    let opened = Opened::new(&provider(), 200 + u64::from(rank)).expect("an endpoint");
    let (local, losses) = (Arc::new(LocalRanks::of(vec![rank])), Arc::default());
    let word_of = |_, _| Err("the launcher is not asked".to_owned());
    let process = ProcessInfo {
        rank,
        ranks: RANKS,
        local,
        alike: ALIKE,
        word_of,
        fail,
        survives: || false,
        losses,
        late: None,
    };
    let port = Arc::new(OneSided::new(process, opened, None).expect("a port"));
    let (own, sum) = (Arc::new(OnceLock::from(Arc::clone(&port))), Arc::default());
    assert!(port.start(true, || Box::new(Adder { port: own, sum: Arc::clone(&sum) })));
    (port, sum)
}

#[test]
fn a_thread_of_the_library_answers_while_the_target_does_nothing() {
    let ((origin, sum), (target, _)) = (one_sided(0), one_sided(1));
    origin.know(1, target.address());
    target.know(0, origin.address());
    for word in 1..=100 {
        let request = message(REQUEST, word, 3000);
        // SAFETY: a packet has room for the payload.
        while !origin.send(1, &request, |to| unsafe { to.write_bytes(word as u8, 3000) }) {
            origin.poll();
        }
    }
    origin.send_open();
    while sum.load(Ordering::SeqCst) < (2..=101).sum() {
        if origin.poll() != Polled::Something {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_thread_that_does_not_poll_gets_its_answers_too() {
    let ((origin, sum), (target, _)) = (one_sided(0), one_sided(2));
    origin.know(2, target.address());
    target.know(0, origin.address());
    assert!(origin.send(2, &message(REQUEST, 7, 0), |_| {}));
    origin.send_open();
    while sum.load(Ordering::SeqCst) != 8 {
        std::thread::yield_now();
    }
}

/// Peers take a process without beats for lost.
#[test]
fn a_beat_that_is_due_ends_reading() {
    let (port, _) = one_sided(0);
    let mut memory = [0u8; 64];
    // SAFETY: the bytes outlive what is exposed.
    let exposed = unsafe { port.expose(memory.as_mut_ptr(), memory.len()) };
    assert!(exposed.is_some(), "from now on a copy may come at any time");
    port.read_while_some_comes(Duration::MAX, Some(Instant::now()));
}

#[test]
fn memory_is_copied_to_and_from_while_the_target_does_nothing() {
    const LEN: usize = 100_000;
    let ((origin, sum), (target, _)) = (one_sided(0), one_sided(3));
    origin.know(3, target.address());
    target.know(0, origin.address());
    let (mut there, mut from, mut back) = (vec![0u8; LEN], vec![0u8; LEN], vec![0u8; LEN]);
    // SAFETY: the bytes outlive what is exposed.
    let exposed = unsafe { target.expose(there.as_mut_ptr(), LEN) }.expect("the provider has remote reads");
    let copy = |direction, here: &mut [u8]| {
        let mut words = [0; EXTRA_BYTES];
        words[0] = 1;
        let done = (message(ANSWER, 0, 0).header, words);
        let copy =
            RemoteCopy { direction, peer: 3, there: exposed.name(), here: here.as_mut_ptr(), len: LEN, done };
        let copies = sum.load(Ordering::SeqCst) + 1;
        // SAFETY: nobody uses the bytes until the message has arrived.
        assert!(unsafe { origin.copy(copy) });
        while sum.load(Ordering::SeqCst) < copies {
            if origin.poll() != Polled::Something {
                std::thread::yield_now();
            }
        }
    };
    for turn in 1..=20 {
        from.fill(turn);
        copy(CopyDirection::Write, &mut from);
        copy(CopyDirection::Read, &mut back);
        assert!(back == from);
    }
}
