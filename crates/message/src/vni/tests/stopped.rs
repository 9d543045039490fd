//! Tests: under `lock-free` a thread that is stopped in a critical section blocks no other thread's call.

use super::ranks::{self, CONTEXT, ranks};
use crate::request::{self, RequestId};
use crate::vni::Vni;
use crate::vni::core::Core;
use crate::vni::interface::VniState;
use heddle_model::{LockFree, Model, Path, SectionOf};
use heddle_sync::Scope;
use heddle_transport::Fabric;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

fn pair(model: &Model) -> [(Fabric, Vni); 2] {
    ranks(model)
}

fn lock_free() -> Model {
    Model::named("lock-free").expect("a model of that name")
}

fn core(vni: &Vni) -> &Core<LockFree> {
    match &vni.state {
        VniState::LockFree(core) => core,
        other => panic!("not lock-free: {other:?}"),
    }
}

/// Runs `others` while a thread is stopped within `inside`, at the call of its argument.
fn while_stopped(inside: impl FnOnce(&dyn Fn()) + Send, others: impl FnOnce()) {
    let (stopped, go_on) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            inside(&|| {
                stopped.wait();
                go_on.wait();
            });
        });
        stopped.wait();
        let _released = Released(&go_on);
        others();
    });
}

/// Lets the stopped thread go on when dropped, also by a panic.
struct Released<'a>(&'a Barrier);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// Sends from rank 0; the send is complete when this returns.
fn send(vni: &Vni, to: usize, tag: i32, bytes: &mut [u8]) {
    // SAFETY: a complete send does not read the bytes any more.
    let pending = unsafe { ranks::send(vni, to, 0, tag, bytes) };
    assert_eq!(pending, None, "small, and there is room");
}

fn are_complete(ids: &[RequestId]) -> bool {
    ids.iter().all(|id| request::is_complete(*id))
}

/// Tests receives and messages that come while a thread is stopped in their matching shard: each call
/// returns. The stopped thread completes them all when it goes on, or leaves the rest to the next thread
/// that polls, which it wakes.
fn no_thread_waits_for_the_matching(limit: u32) {
    let [(_, sender), (fabric, receiver)] = pair(&Model { combining_limit: limit, ..lock_free() });
    let mut into = [[0; 100]; 6];
    let mut ids = Vec::new();
    let ticket = fabric.own_doorbell().prepare(Scope::Machine);
    while_stopped(
        |stop| core(&receiver).matching_shard(CONTEXT).with(Path::Main, |_| stop()),
        || {
            for (tag, to) in (0..).zip(&mut into) {
                let len = [8, 40, 100][tag as usize % 3];
                let mut bytes = [tag as u8 + 1; 100];
                // SAFETY: the bytes outlive the operation, which ends in this function.
                let mut post = |ids: &mut Vec<_>| ids.push(unsafe { ranks::receive(&receiver, tag, to) });
                if tag % 2 == 0 {
                    post(&mut ids);
                }
                if tag < 3 {
                    send(&sender, 1, tag, &mut bytes[..len]);
                    assert!(receiver.progress(), "the message has come");
                } else {
                    // The receiver sends to itself.
                    send(&receiver, 1, tag, &mut bytes[..len]);
                }
                if tag % 2 == 1 {
                    post(&mut ids);
                }
            }
            assert!(!ids.iter().any(|id| request::is_complete(*id)), "the matching is closed");
        },
    );
    assert!(ticket.park(Some(Duration::from_secs(20))), "no thread was woken");
    assert_eq!(are_complete(&ids), limit > 12);
    while !are_complete(&ids) {
        assert!(receiver.poll_for_certain(), "what is left is found");
    }
    for (tag, (id, to)) in (0..).zip(ids.iter().zip(&into)) {
        let (outcome, _) = request::consume(*id).expect("no other thread took it");
        let len = [8, 40, 100][tag as usize % 3];
        assert_eq!((outcome.source, outcome.tag, outcome.bytes), (0, tag, len as u64));
        assert!(to[..len].iter().all(|byte| *byte == tag as u8 + 1));
    }
}

#[test]
fn no_thread_waits_for_one_that_is_stopped_in_the_matching() {
    no_thread_waits_for_the_matching(64);
}

#[test]
fn operations_left_there_are_run_by_the_next_thread_that_polls() {
    no_thread_waits_for_the_matching(1);
}

#[test]
fn no_sender_waits_for_a_thread_that_is_stopped_in_the_channel() {
    let [(_, sender), (_, receiver)] = pair(&lock_free());
    let mut bytes = [7; 4000];
    // The first message connects the ring.
    send(&sender, 1, 0, &mut bytes[..8]);
    while_stopped(
        |stop| core(&sender).peers.of(1).channel.with(Path::Main, |_| stop()),
        || {
            for (tag, len) in (1..).zip([0, 8, 40, 41, 4000]) {
                send(&sender, 1, tag, &mut bytes[..len]);
            }
        },
    );
    let mut into = [0; 4000];
    receiver.poll_for_certain();
    for tag in 0..6 {
        // SAFETY: the bytes outlive the operation, which is complete at once.
        let id = unsafe { ranks::receive(&receiver, tag, &mut into) };
        assert!(request::consume(id).is_some_and(|(outcome, _)| outcome.error.is_none()));
    }
}

#[test]
fn no_thread_waits_for_one_that_is_stopped_while_it_polls_the_rings() {
    let [_, (_, receiver)] = pair(&lock_free());
    while_stopped(
        |stop| core(&receiver).arrivals().with(Path::Progress, |_| stop()),
        || {
            assert!(!receiver.progress());
            assert!(receiver.poll_for_certain(), "no time to sleep");
            let (mut from, mut to) = ([5; 8], [0; 8]);
            send(&receiver, 1, 3, &mut from);
            // SAFETY: the bytes outlive the operation, which is complete at once.
            let id = unsafe { ranks::receive(&receiver, 3, &mut to) };
            assert!(request::consume(id).is_some());
            assert_eq!(from, to);
        },
    );
    assert!(!receiver.poll_for_certain());
}
