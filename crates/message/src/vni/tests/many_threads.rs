//! Tests: many threads at both ends of one channel, with both ends in one process, so that a
//! sanitizer sees all of it.

use super::ranks::{bounded_ranks, models, ranks};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, RequestId, RequestKind};
use crate::vni::core::Core;
use crate::vni::interface::{VniState, apart};
use crate::vni::{SendArgs, Vni};
use heddle_model::{Model, Path, Whole};
use heddle_platform::atomic::Ordering;
use heddle_spec::constants::MPI_ANY_SOURCE;
use heddle_transport::Fabric;
use std::thread;

const THREADS: usize = 3;
const ROUNDS: usize = 48;
/// Message sizes around each change of protocol.
const SIZES: [usize; 8] = [0, 8, 40, 41, 1000, 32 << 10, 40_000, 300_000];

type End = (Fabric, Vni);

/// # Safety
/// The bytes outlive the operation.
unsafe fn send(from: &Vni, peer: usize, key: Key, synchronous: bool, bytes: &mut [u8]) -> Option<RequestId> {
    // SAFETY: the caller's promise.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    let (context, source, tag) = (key.context, key.source(), key.tag());
    let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep: None };
    from.issue_send(args, || request::take(0, 0, RequestKind::Send)).expect("a request")
}

/// # Safety
/// The bytes outlive the operation.
unsafe fn receive(to: &Vni, key: Key, bytes: &mut [u8]) -> RequestId {
    let id = request::take(0, 0, RequestKind::Receive).expect("a request");
    // SAFETY: new, and not issued yet.
    let in_flight = unsafe { request::in_flight(id) };
    // SAFETY: the caller's promise.
    in_flight.buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    in_flight.context = key.context;
    to.receive(id, key);
    id
}

fn complete(vni: &Vni, ids: &[RequestId]) {
    while !ids.iter().all(|id| request::is_complete(*id)) {
        if !vni.progress() {
            thread::yield_now();
        }
    }
    for id in ids {
        let (outcome, _) = request::consume(*id).expect("no other thread took it");
        assert_eq!(outcome.error, None);
    }
}

/// Lets one thread of one rank exchange messages with the thread of the same number at the
/// other end, and with itself.
fn converse(ends: &[End; 2], rank: usize, thread: usize) {
    let (vni, peer) = (&ends[rank].1, 1 - rank);
    for round in 0..ROUNDS {
        let value = |rank: usize| (rank * 100 + thread * 30 + round) as u8;
        // Every other round, all threads use one context; in the rounds between, each thread has its own.
        let context = 8 * (1 + thread * (round % 2)) as u64;
        let len = SIZES[(round + thread) % SIZES.len()];
        let (mut out, mut into, mut from_self) = (vec![value(rank); len], vec![0; len], vec![0; len]);
        let wanted = if round % 3 == 0 { MPI_ANY_SOURCE } else { peer as i32 };
        let mut nothing = [0; 8];

        // SAFETY: the bytes outlive the operations, which end in this round.
        let cancelled = unsafe { receive(vni, Key::new(context, 0, 1000 + thread as i32), &mut nothing) };
        // SAFETY: the bytes outlive the operations, which end in this round.
        let incoming = unsafe { receive(vni, Key::new(context, wanted, thread as i32), &mut into) };
        let key = Key::new(context, rank as i32, thread as i32);
        // SAFETY: the bytes outlive the operations, which end in this round.
        let outgoing = unsafe { send(vni, peer, key, round % 5 == 0, &mut out) };
        vni.cancel_receive(cancelled);
        assert!(request::consume(cancelled).is_some_and(|(outcome, _)| outcome.cancelled));
        complete(vni, &[Some(incoming), outgoing].into_iter().flatten().collect::<Vec<_>>());
        assert!(into.iter().all(|byte| *byte == value(peer)), "round {round}");

        let key = Key::new(context, rank as i32, 100 + thread as i32);
        // SAFETY: the bytes outlive the operations, which end in this round.
        let outgoing = unsafe { send(vni, rank, key, false, &mut out) };
        // SAFETY: the bytes outlive the operations, which end in this round.
        let incoming = unsafe { receive(vni, key, &mut from_self) };
        complete(vni, &[Some(incoming), outgoing].into_iter().flatten().collect::<Vec<_>>());
        assert!(from_self == out, "round {round}");
    }
}

fn exchange(model: &Model, attended: bool, unexpected_bytes: usize) {
    let ends = bounded_ranks::<2>(model, unexpected_bytes);
    for (rank, (fabric, _)) in ends.iter().enumerate() {
        fabric.attendance(rank, 0).store(u32::from(attended), Ordering::Relaxed);
    }
    thread::scope(|scope| {
        for (rank, thread) in (0..2).flat_map(|rank| (0..THREADS).map(move |thread| (rank, thread))) {
            let ends = &ends;
            scope.spawn(move || converse(ends, rank, thread));
        }
    });
    assert!(ends.iter().all(|(_, vni)| vni.is_drained() && !vni.has_offers()));
}

#[test]
fn messages_of_all_sizes_arrive_while_their_receivers_fetch_them() {
    models().iter().for_each(|model| exchange(model, false, usize::MAX));
}

#[test]
fn messages_of_all_sizes_arrive_by_all_transfer_methods() {
    models().iter().for_each(|model| exchange(model, true, usize::MAX));
}

#[test]
fn messages_of_all_sizes_arrive_while_senders_are_throttled_and_are_not() {
    models().iter().for_each(|model| exchange(model, false, 2000));
    models().iter().for_each(|model| exchange(model, true, 0));
}

#[test]
fn what_was_abandoned_is_released_once_it_is_complete() {
    for model in models() {
        let [(_, sender), (_, receiver)] = ranks(&model);
        let (mut from, mut to) = ([7; 100], vec![[0; 100]; 20]);
        let key = Key::new(8, 0, 1);
        // SAFETY: the bytes outlive the operations, which end in this function.
        let ids: Vec<RequestId> = to.iter_mut().map(|to| unsafe { receive(&receiver, key, to) }).collect();
        let handles: Vec<usize> = ids.iter().map(|id| request::handle(*id)).collect();
        ids.iter().for_each(|id| receiver.abandon(*id));
        assert!(handles.iter().all(|handle| request::find(*handle).is_ok()), "they are under way");
        for _ in &ids {
            // SAFETY: the bytes outlive the operations, which end in this function.
            assert_eq!(unsafe { send(&sender, 1, key, false, &mut from) }, None, "there is room");
        }
        for _ in &ids {
            receiver.poll_for_certain();
        }
        assert!(to.iter().all(|to| *to == from));
        assert!(!run!(receiver, Main, core => core.is_pending()));
        assert!(handles.iter().all(|handle| request::find(*handle).is_err()));
    }
}
