//! A VNI: one independent communication path of the process, with its own rings, matching state and section.
//!
//! | file | idea |
//! |---|---|
//! | `wire.rs` | the message kinds and what their fields mean |
//! | `send.rs` | from a send to the wire: eager, synchronous, rendezvous; waiting for room in order |
//! | `receive.rs` | from the wire or the unexpected set to a receive |
//! | `direct.rs` | from the wire straight to a blocking receive |
//! | `rendezvous.rs` | large messages: single copy, or streaming in pieces |
//! | `halves.rs` | large messages of which either side copies a half |
//! | `pace.rs` | which of these ways: the quickest, by measurement |
//! | `local.rs` | a process that sends to itself |

mod direct;
mod halves;
mod local;
mod pace;
mod receive;
mod rendezvous;
mod send;
mod wire;

pub(crate) use direct::Direct;
pub(crate) use receive::Message;
pub(crate) use rendezvous::refuse_single_copy;
pub(crate) use send::{SendArgs, eager_header};

use crate::matching::Matching;
use crate::p2p::Flush;
use crate::request::{self, Outcome, RequestId, RequestKind};
use halves::{Halves, Push};
use heddle_model::{Guarded, Model, Path};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_sync::{Bell, CachePadded, Scope};
use heddle_transport::{Fabric, Inbox, Outbox};
use rendezvous::Pull;
use std::collections::VecDeque;
use std::sync::Arc;

/// Messages taken from one sender before the others get their turn.
const POLL_BUDGET: usize = 32;

/// One VNI.
#[derive(Debug)]
pub(crate) struct Vni {
    state: CachePadded<Guarded<State>>,
    /// Large messages that this VNI has offered to their receivers and that were not fetched yet.
    offers: Arc<AtomicU32>,
}

/// What the section guards.
#[derive(Debug)]
pub(crate) struct State {
    inbox: Inbox,
    pub(crate) core: Core,
}

/// What came of a look.
#[derive(Debug)]
enum Step {
    Nothing,
    /// Something did, or pulls wait for their turn.
    Happened,
    /// These are to be done now, outside of the section.
    Pull(Pull),
    Push(Push),
}

/// Everything but the inbox: what an arriving message acts on.
#[derive(Debug)]
pub(crate) struct Core {
    rank: usize,
    /// The process's bell: in the mapping that `fabric` keeps alive, like the rings.
    bell: *const Bell,
    fabric: Fabric,
    outbox: Outbox,
    pub(crate) matching: Matching<Message>,
    /// What waits for room in a peer's ring, in order.
    backlog: Vec<VecDeque<send::Queued>>,
    backlogged: usize,
    streams: Vec<rendezvous::Stream>,
    /// The VNI's, written inside of the section only.
    offers: Arc<AtomicU32>,
    /// Requests that wait for buffered sends to leave.
    pub(crate) flushes: Vec<Flush>,
    pulls: VecDeque<Pull>,
    pushes: Vec<Push>,
    /// Receives of which either side copies a half.
    halves: Vec<Halves>,
    /// How quickly messages of each peer arrived that went by rendezvous: those below `LARGE`, and the others.
    paces: Vec<[pace::Pace; 2]>,
}

// SAFETY: requests named in the state belong to this VNI's section; the bell is made for many threads.
unsafe impl Send for Core {}

impl Vni {
    pub(crate) fn new(fabric: &Fabric, index: usize, model: &Model, threads: bool) -> Vni {
        let offers = Arc::<AtomicU32>::default();
        let state = State {
            inbox: Inbox::new(fabric, index),
            core: Core {
                rank: fabric.rank(),
                bell: fabric.own_bell(),
                fabric: fabric.clone(),
                outbox: Outbox::new(fabric, index),
                matching: Matching::new(),
                backlog: (0..fabric.size()).map(|_| VecDeque::new()).collect(),
                backlogged: 0,
                streams: Vec::new(),
                offers: offers.clone(),
                flushes: Vec::new(),
                pulls: VecDeque::new(),
                pushes: Vec::new(),
                halves: Vec::new(),
                paces: vec![[pace::Pace::medium(), pace::Pace::large()]; fabric.size()],
            },
        };
        Vni { state: CachePadded::new(model.guard_vni(threads, state)), offers }
    }

    /// Runs an operation inside the section.
    #[inline(always)]
    pub(crate) fn with<R>(&self, operation: impl FnOnce(&mut Core) -> R) -> R {
        self.state.with(
            Path::Main,
            #[inline(always)]
            |state| operation(&mut state.core),
        )
    }

    /// Whether receivers may wait for this process to send them the data of large messages.
    #[inline(always)]
    pub(crate) fn has_offers(&self) -> bool {
        self.offers.load(Ordering::Relaxed) != 0
    }

    /// Makes progress if nobody else is in the section. Returns whether anything happened.
    #[inline]
    pub(crate) fn progress(&self) -> bool {
        self.state.try_with(Path::Progress, State::step).is_some_and(|step| self.carry_out(step))
    }

    /// Makes progress for certain: waits for the section, since whoever is in it may be none who looks. Returns whether
    /// anything happened or is left to do.
    #[cold]
    pub(crate) fn look(&self) -> bool {
        self.carry_out(self.state.with(Path::Progress, State::step))
    }

    #[inline]
    fn carry_out(&self, step: Step) -> bool {
        match step {
            Step::Nothing => false,
            Step::Happened => true,
            Step::Pull(pull) => {
                let result = pull.run();
                self.state.with(Path::Progress, |state| state.core.finish_pull(pull, result));
                true
            }
            Step::Push(push) => {
                let result = push.run();
                self.state.with(Path::Progress, |state| state.core.finish_push(&push, &result));
                true
            }
        }
    }
}

impl State {
    #[inline]
    fn step(&mut self) -> Step {
        let happened = self.poll();
        if let Some(push) = self.core.pushes.pop() {
            return Step::Push(push);
        }
        if let Some(pull) = self.core.next_pull() {
            return Step::Pull(pull);
        }
        // A pull that was streamed instead, or that waits for its sender, leaves others behind it: look again.
        if happened || self.core.has_pulls() { Step::Happened } else { Step::Nothing }
    }

    #[inline]
    fn poll(&mut self) -> bool {
        let core = &mut self.core;
        let arrived = self.inbox.poll(POLL_BUDGET, |peer, message| core.arrive(peer, message));
        let mut happened = arrived != 0;
        if core.backlogged != 0 {
            happened |= core.drain_backlog();
        }
        if !core.streams.is_empty() {
            happened |= core.pump_streams();
        }
        if !core.flushes.is_empty() {
            happened |= core.complete_flushes();
        }
        happened
    }
}

impl Core {
    /// Completes a request of this VNI and wakes its waiter, should it sleep.
    #[inline(always)]
    pub(crate) fn complete(&mut self, id: RequestId, outcome: Outcome) {
        // SAFETY: the request is active on this VNI, whose section we are in.
        unsafe { request::complete(id, outcome) };
        self.wake_sleepers();
    }

    /// Wakes whoever sleeps in this process: something was completed, or there is something to do.
    #[inline(always)]
    fn wake_sleepers(&self) {
        // SAFETY: the bell lives as long as the fabric.
        unsafe { &*self.bell }.ring(Scope::Machine);
    }

    /// Notes the end of a part of a joint request of this VNI, and wakes the waiter, should it sleep.
    pub(crate) fn complete_part(&mut self, whole: RequestId, kind: RequestKind, outcome: Outcome) {
        // SAFETY: the request is active on this VNI, whose section we are in.
        unsafe { request::complete_part(whole, kind, outcome) };
        self.wake_sleepers();
    }

    /// Completes the flushes whose buffered sends have left.
    #[cold]
    fn complete_flushes(&mut self) -> bool {
        let over: Vec<Flush> = self.flushes.extract_if(.., |flush| flush.is_over()).collect();
        for flush in &over {
            self.complete(flush.request, Outcome::empty());
        }
        !over.is_empty()
    }

    /// One more large message, or one fewer, is offered to its receiver.
    fn count_offer(&self, change: i32) {
        // Relaxed, and a load and a store: written inside of the section only, and others ask for a hint.
        let now = self.offers.load(Ordering::Relaxed).wrapping_add_signed(change);
        self.offers.store(now, Ordering::Relaxed);
    }

    /// Whether nothing waits to be sent.
    pub(crate) fn is_drained(&self) -> bool {
        self.backlogged == 0 && self.streams.is_empty()
    }

    /// Takes back a posted receive, if it was not matched yet; it completes as cancelled.
    pub(crate) fn cancel_receive(&mut self, id: RequestId) {
        if request::is_complete(id) {
            return;
        }
        // SAFETY: the request is active on this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        if let request::Stage::Posted(place) = flight.stage {
            self.matching.unpost(place);
            self.complete(id, Outcome { cancelled: true, ..Outcome::empty() });
        }
    }
}
