//! Messages that several threads send in a known order are received in that order, by tag, and from the first
//! wildcard on all of them.

use super::begin;
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, RequestId, RequestKind};
use crate::spread::Spreading;
use crate::vni::{INLINE_BYTES, SendArgs, Vni, eager_header};
use heddle_bootstrap::JobControl;
use heddle_model::{Attempt, Model, Refusal};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_settings::SpreadRule;
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use heddle_transport::Fabric;
use std::sync::Arc;
use std::thread;

const VNIS: usize = 4;
const THREADS: u32 = 3;
/// A context whose home is VNI 2.
const CONTEXT: u64 = 2 << 6;
const HOME: usize = 2;

/// The VNIs of two ranks.
fn ranks(rule: SpreadRule) -> [&'static [Vni]; 2] {
    let job = JobControl::create(2).expect("the memory of a job");
    [0, 1].map(|rank| {
        let world = job.world_of(rank).expect("the job is there");
        let fabric = Fabric::attach(&world, VNIS).expect("a segment");
        let spreading = Arc::new(Spreading::by(rule, &fabric));
        let sections = Arc::new(Model::default().sections(true));
        let vni = |index| Vni::spreading(&fabric, index, &sections, usize::MAX, Arc::clone(&spreading));
        let vnis: &'static [Vni] = (0..VNIS).map(vni).collect::<Vec<_>>().leak();
        begin(vnis, &fabric);
        vnis
    })
}

fn poll(vnis: &[Vni]) {
    let mut happened = false;
    for vni in vnis {
        happened |= vni.progress();
    }
    if !happened {
        thread::yield_now();
    }
}

fn tag_of(number: u32) -> i32 {
    (number % THREADS) as i32
}

/// Sends message `number`, of `len` bytes, from rank 0; returns its request if it is not complete.
fn send(vnis: &[Vni], number: u32, len: usize) -> Option<RequestId> {
    let data = Box::leak(vec![0; len].into_boxed_slice());
    data[..4].copy_from_slice(&number.to_ne_bytes());
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), len) };
    let (tag, synchronous) = (tag_of(number), number % 7 == 6);
    let args = SendArgs { buffer, peer: 1, context: CONTEXT, source: 0, tag, synchronous, keep: None };
    let request = || request::take(HOME as u32, 0, RequestKind::Send);
    if len <= INLINE_BYTES && !synchronous {
        let header = eager_header(CONTEXT, 0, tag);
        for attempt in [Attempt::Bias, Attempt::Lock] {
            // SAFETY: the bytes are valid, and the receiver is another rank.
            let sent = unsafe { vnis[HOME].send_express(attempt, 1, &header, data.as_ptr(), len) };
            match sent {
                Ok(()) => return None,
                Err(Refusal::Busy) => {}
                Err(Refusal::Unfit) => break,
            }
        }
    }
    if number.is_multiple_of(2) {
        return vnis[HOME].send(args, request).expect("a request");
    }
    let id = request().expect("a request");
    vnis[HOME].send_into(id, args);
    Some(id)
}

/// A receive that was posted, and its data.
struct Posted(RequestId, &'static [u8]);

impl Posted {
    fn new(vnis: &[Vni], source: i32, tag: i32, len: usize) -> Posted {
        let id = request::take(HOME as u32, 0, RequestKind::Receive).expect("a request");
        let data: &'static mut [u8] = Box::leak(vec![0; len].into_boxed_slice());
        // SAFETY: new, and not issued yet.
        let in_flight = unsafe { request::in_flight(id) };
        // SAFETY: the bytes are never freed.
        in_flight.buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), len) };
        in_flight.context = CONTEXT;
        vnis[HOME].receive(id, Key::new(CONTEXT, source, tag));
        Posted(id, data)
    }

    /// The number of the message.
    fn wait(self, vnis: &[Vni]) -> u32 {
        while !request::is_complete(self.0) {
            poll(vnis);
        }
        let (outcome, _) = request::consume(self.0).expect("no other thread took it");
        assert_eq!(outcome.error, None);
        u32::from_ne_bytes(std::array::from_fn(|at| self.1[at]))
    }
}

/// Threads of rank 0 send `count` messages by turns. Rank 1 receives the first `exact` by their tags, and the
/// others by wildcards.
fn in_turns(rule: SpreadRule, len: usize, exact: u32, count: u32, source: i32, ahead: usize) {
    let [sender, receiver] = ranks(rule);
    let (turn, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let sends = |mine: u32| {
        let mut pending = Vec::new();
        for number in (mine..count).step_by(THREADS as usize) {
            while turn.load(Ordering::Acquire) != number {
                poll(sender);
            }
            pending.extend(send(sender, number, len));
            turn.store(number + 1, Ordering::Release);
        }
        while !pending.iter().all(|id| request::is_complete(*id)) {
            poll(sender);
        }
        pending.into_iter().for_each(|id| _ = request::consume(id).expect("no other thread took it"));
        done.fetch_add(1, Ordering::Release);
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let sends = &sends;
            scope.spawn(move || sends(thread));
        }
        for tag in 0..THREADS {
            for number in (tag..exact).step_by(THREADS as usize) {
                let got = Posted::new(receiver, 0, tag as i32, len).wait(receiver);
                assert_eq!(got, number, "by tag: {rule:?}, {len} bytes");
            }
        }
        let mut posted = std::collections::VecDeque::new();
        for number in exact..count {
            while posted.len() < ahead.min((count - number) as usize) {
                posted.push_back(Posted::new(receiver, source, MPI_ANY_TAG, len));
            }
            let got = posted.pop_front().map(|first| first.wait(receiver));
            assert_eq!(got, Some(number), "by wildcard: {rule:?}, {len} bytes, {exact} by tag");
        }
        // Answers to the sender may wait for room.
        while done.load(Ordering::Acquire) != THREADS {
            poll(receiver);
        }
    });
    for vnis in [sender, receiver] {
        while !vnis.iter().all(|vni| vni.is_drained() && !vni.has_offers()) {
            poll(sender);
            poll(receiver);
        }
    }
}

/// Messages that were sent together come before those that were spread, also if both are gathered.
#[test]
fn messages_that_were_together_keep_their_order() {
    let [sender, receiver] = ranks(SpreadRule::Contended);
    let count = 30;
    for number in 0..count {
        if number == count / 2 {
            while receiver[HOME].progress() {}
            sender[HOME].spread_to(1);
        }
        assert_eq!(send_with_tag(sender, number, (number % 5) as i32), None, "there is room");
    }
    (0..10).for_each(|_| poll(receiver));
    for number in 0..count {
        let posted = Posted::new(receiver, 0, MPI_ANY_TAG, 4);
        assert_eq!(posted.wait(receiver), number);
    }
}

/// A sender fills one lane, and then uses another one. It goes on before the receiver looks, or afterwards.
fn full_lane_then_another(exact: u32) {
    let [sender, receiver] = ranks(SpreadRule::Always);
    let (mut count, mut waiting) = (0, Vec::new());
    // The last ones of tag 0 wait for room, so the last one of all, of tag 1, does.
    while waiting.len() < 3 {
        waiting.extend(send_with_tag(sender, count, 0));
        count += 1;
    }
    waiting.push(send_with_tag(sender, count, 1).expect("it waits behind those of the other lane"));
    for number in 0..=count {
        let tag = if number < exact { 0 } else { MPI_ANY_TAG };
        let posted = Posted::new(receiver, 0, tag, 4);
        while !request::is_complete(posted.0) {
            poll(sender);
            poll(receiver);
        }
        assert_eq!(posted.wait(receiver), number, "{exact} by tag");
    }
    for id in waiting {
        request::consume(id).expect("it was sent");
    }
}

fn send_with_tag(vnis: &[Vni], number: u32, tag: i32) -> Option<RequestId> {
    let data = Box::leak(Box::new(number.to_ne_bytes()));
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), 4) };
    let args = SendArgs { buffer, peer: 1, context: CONTEXT, source: 0, tag, synchronous: false, keep: None };
    vnis[HOME].send(args, || request::take(HOME as u32, 0, RequestKind::Send)).expect("a request")
}

#[test]
fn a_message_waits_behind_those_that_found_no_room_in_another_lane() {
    [0, 1, 100].into_iter().for_each(full_lane_then_another);
}

/// Numbers of bytes, one for each protocol, and of messages.
const SIZES: [(usize, u32); 4] = [(4, 1500), (40, 300), (4000, 300), (400_000, 24)];

#[test]
fn messages_are_received_in_their_order_by_tag() {
    for (len, count) in SIZES {
        for rule in [SpreadRule::Never, SpreadRule::Contended, SpreadRule::Always] {
            in_turns(rule, len, count, count, 0, 1);
        }
    }
}

#[test]
fn messages_are_received_in_their_order_after_a_wildcard() {
    for (len, count) in SIZES {
        for exact in [0, count / 2] {
            for (source, ahead) in [(0, 1), (MPI_ANY_SOURCE, 5)] {
                for rule in [SpreadRule::Contended, SpreadRule::Always] {
                    in_turns(rule, len, exact, count, source, ahead);
                }
            }
        }
    }
}
