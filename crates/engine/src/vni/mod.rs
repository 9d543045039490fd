//! A VNI: one independent communication path of the process, with its own rings, matching state and sections.
//!
//! | file | idea |
//! |---|---|
//! | `core.rs` | the objects that a VNI consists of, each behind its section; progress |
//! | `wire.rs` | the message kinds and what their fields mean |
//! | `send.rs` | from a send to the wire: eager, synchronous, rendezvous; waiting for room in order |
//! | `way.rs` | the ring to a peer, inside of the channel's section or outside |
//! | `receive.rs` | from the wire or the unexpected set to a receive |
//! | `checked.rs` | what peers say, checked before it is followed |
//! | `direct.rs` | from the wire straight to a blocking receive |
//! | `large.rs` | what is kept of large messages, and of what else goes on by itself |
//! | `rendezvous.rs` | large messages: single copy, or streaming in pieces |
//! | `halves.rs` | large messages of which either side copies a half |
//! | `pace.rs` | which of these ways: the quickest, by measurement |
//! | `local.rs` | a process that sends to itself |
//! | `own.rs` | the same, while its messages may move from one VNI to another |
//! | `served.rs` | what the threads of execution `offload` do |
//!
//! # Sections
//!
//! | level | section of | guards | entered by |
//! |---|---|---|---|
//! | 0 | arrivals | the rings that are read | who looks for messages: by trying, and for certain before it sleeps |
//! | 1 | matching, by context | posted receives, unexpected messages | receives, probes, sends to oneself, each message that arrives |
//! | 2 | large messages | everything of rendezvous; flushes; abandoned requests | these only |
//! | 3 | channel, by peer | the ring to it, and what waits for room there | each send, each message of a protocol |
//!
//! A thread enters sections in the order of their levels only (checked in debug builds), and leaves the matching before it
//! does anything with what it has found: data is copied outside of it.
//!
//! The code is the same for all granularities; what a section is depends on the [`Sectioning`](heddle_model::Sectioning).
//! Under `per-object` each is a lock: a small send enters that of its channel and nothing else, a receive that of its
//! context's matching. Under `lock-free` a small send enters none, and nobody waits for the matching: what is to be done there
//! is left to who is inside, on a way that keeps its order (`heddle_model::LockFree`). Under all others they are nothing, and the whole VNI is guarded: by a section of its own, which may
//! be combining, or by something wider. An operation is therefore given to the VNI as a whole (the methods of [`Vni`]).
//!
//! **Order of messages.** Those of one sender and context are matched in the order in which they lie in the ring, since
//! whoever reads the rings stays in the section of arrivals until each is matched, or left to be matched behind what was left
//! before. Those to one peer leave in the order in which they enter the channel's section, since what finds no room there
//! keeps back all behind it; for `lock-free` see `way.rs`.
//!
//! **Nobody sleeps over work.** Who is about to sleep looks once more and waits for each section. What another thread
//! begins to keep after that (a backlog, a pull) rings the bell; a stream is known to be there before its thread finds
//! that there is no room for it, so whoever is woken by new room finds it. Under `lock-free` who looks does not wait for a
//! section but does not sleep either while somebody is inside; operations that are left behind ring the bell.

/// Runs an operation on the core, inside of the VNI's section if it has one. What the operation names of the caller's it
/// takes by value, since another thread may run it: what is borrowed would have to lie in memory, also where none does.
macro_rules! run {
    ($vni:expr, $path:ident, $core:ident => $operation:expr) => {
        match &$vni.state {
            State::Whole(state) => state.with(
                Path::$path,
                #[inline(always)]
                move |$core: &mut Core<Whole>| $operation,
            ),
            State::Parted($core) => apart(move || $operation),
            State::LockFree($core) => apart(move || $operation),
        }
    };
}

mod checked;
mod core;
#[cfg(test)]
mod crowd;
mod direct;
mod halves;
mod large;
mod local;
mod own;
mod pace;
#[cfg(test)]
mod ranks;
mod receive;
mod rendezvous;
mod send;
mod served;
#[cfg(test)]
mod stopped;
mod way;
mod wire;

pub(crate) use direct::Direct;
pub(crate) use large::Sequel;
pub(crate) use own::{settle, spread};
pub(crate) use receive::Message;
pub(crate) use send::{SendArgs, eager_header};
pub(crate) use served::Served;

use self::core::{Core, Entry, Step};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::p2p::Flush;
use crate::progress::{Asleep, Crew, LastLook};
use crate::request::{self, RequestId};
use heddle_model::{Guarded, LockFree, Objects, Parted, Path, Sections, Whole};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_sync::CachePadded;
use heddle_transport::{Fabric, Header, INLINE_BYTES};
use std::sync::Arc;

/// Messages taken from one sender before the others get their turn.
const POLL_BUDGET: usize = 32;

/// One VNI.
#[derive(Debug)]
pub(crate) struct Vni {
    state: State,
    rank: usize,
    /// Large messages that this VNI has offered to their receivers and that were not fetched yet.
    offers: Arc<AtomicUsize>,
    /// Those who wait on it.
    pub(crate) crew: Crew,
    pub(crate) last_look: LastLook,
}

/// The objects of a VNI, behind one section or with one each.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one step fewer to the state of most models; there are few VNIs"
)]
enum State {
    Whole(CachePadded<Guarded<Core<Whole>>>),
    Parted(Box<Core<Parted>>),
    LockFree(Box<Core<LockFree>>),
}

/// As `run`, of an operation that neither creates, completes nor frees a request.
macro_rules! look {
    ($vni:expr, $core:ident => $operation:expr) => {
        match &$vni.state {
            State::Whole(state) => state.look(move |$core: &mut Core<Whole>| $operation),
            State::Parted($core) => apart(move || $operation),
            State::LockFree($core) => apart(move || $operation),
        }
    };
}

/// What the operations are where each object has a section: out of line, so that the others' code stays small.
#[inline(never)]
fn apart<R>(operation: impl FnOnce() -> R) -> R {
    operation()
}

impl Vni {
    pub(crate) fn new(fabric: &Fabric, index: usize, sections: &Sections) -> Vni {
        let offers = Arc::<AtomicUsize>::default();
        let state = match sections.objects() {
            Objects::Parted => State::Parted(Box::new(Core::new(fabric, index, sections, offers.clone()))),
            Objects::LockFree => {
                State::LockFree(Box::new(Core::new(fabric, index, sections, offers.clone())))
            }
            Objects::Whole => {
                let core = Core::new(fabric, index, sections, offers.clone());
                State::Whole(CachePadded::new(sections.guard_vni(index, core)))
            }
        };
        Vni { state, rank: fabric.rank(), offers, crew: Crew::default(), last_look: LastLook::default() }
    }

    /// Whether receivers may wait for this process to send them the data of large messages.
    #[inline(always)]
    pub(crate) fn has_offers(&self) -> bool {
        self.offers.load(Ordering::Relaxed) != 0
    }

    /// Sends now if that is possible at once and without a request: a small message to another process.
    #[inline(always)]
    pub(crate) fn send_at_once(&self, peer: usize, header: Header, buffer: Buffer) -> bool {
        if buffer.len() > INLINE_BYTES || peer == self.rank {
            return false;
        }
        match &self.state {
            // Behind what this thread has posted and nobody has run yet it may not go.
            State::Whole(state) if state.takes_posts() => {
                let sent = state.try_with(Path::Main, move |core| core.send_at_once(peer, &header, buffer));
                sent == Some(true)
            }
            _ => run!(self, Main, core => core.send_at_once(peer, &header, buffer)),
        }
    }

    /// Sends. Returns `None` if the send is complete; otherwise the request, made by `request`, that will be.
    #[inline]
    pub(crate) fn send(
        &self,
        args: SendArgs,
        request: impl FnOnce() -> RequestId + Send,
    ) -> Option<RequestId> {
        run!(self, Main, core => core.send(args, request))
    }

    /// As [`send`](Self::send), or has it done soon.
    #[inline]
    pub(crate) fn issue_send(
        &self,
        args: SendArgs,
        request: impl FnOnce() -> RequestId + Send,
    ) -> Option<RequestId> {
        match &self.state {
            State::Whole(state) if state.takes_posts() => {
                let send = |core: &mut Core<Whole>, (args, request)| core.send(args, request);
                let (args, request) = match state.run_soon((args, request), send) {
                    Ok(request) => return request,
                    Err(busy) => busy,
                };
                let id = request();
                // The operation may run when this call is over: from now on the request keeps the datatype.
                // SAFETY: the request is new, and the caller holds the datatype.
                unsafe { request::set_buffer(id, args.buffer) };
                state.post(move |core| core.send_into(id, args));
                Some(id)
            }
            _ => self.send(args, request),
        }
    }

    /// Sends, into a request that exists and is active.
    pub(crate) fn send_into(&self, id: RequestId, args: SendArgs) {
        run!(self, Main, core => core.send_into(id, args));
    }

    /// Receives: takes the message if it is here already, otherwise posts the receive.
    #[inline(always)]
    pub(crate) fn receive(&self, id: RequestId, key: Key) {
        match &self.state {
            State::Whole(state) if state.takes_posts() => {
                if state.run_soon((), move |core, ()| core.receive(id, key)).is_err() {
                    state.post(move |core| core.receive(id, key));
                }
            }
            _ => run!(self, Main, core => core.receive(id, key)),
        }
    }

    /// Receives a message that was taken out of matching before.
    pub(crate) fn receive_matched(&self, id: RequestId, buffer: Buffer, key: Key, message: Message) {
        run!(self, Main, core => core.receive_matched(id, buffer, &key, message));
    }

    /// Looks for a message that a blocking receive may take from the ring, at most so many times.
    #[inline(always)]
    pub(crate) fn receive_directly(&self, looks: u32, key: Key, buffer: Buffer) -> Direct {
        let State::Whole(state) = &self.state else { return Direct::Ordinary };
        let mut entered = 0;
        for _ in 0..looks {
            let seen = state.try_look(
                #[inline(always)]
                move |core| core.receive_directly(key, buffer),
            );
            let Some(seen) = seen else { continue };
            entered += 1;
            if !matches!(seen, Direct::Nothing) {
                state.count_looks(entered, matches!(seen, Direct::Received(..)));
                return seen;
            }
        }
        state.count_looks(entered, false);
        Direct::Nothing
    }

    /// The oldest message here that a receive with this key matches: what it is, and how many bytes of data it has.
    pub(crate) fn peek(&self, key: Key) -> Option<(Key, u64)> {
        look!(self, core => core.peek(&key))
    }

    /// As [`peek`](Self::peek), and takes it out: for [`receive_matched`](Self::receive_matched).
    pub(crate) fn take(&self, key: Key) -> Option<(Key, Message)> {
        look!(self, core => core.take(&key))
    }

    /// Has a prober told of the next message that a receive with this key matches. False if there is one here.
    ///
    /// # Safety
    /// As [`Probers::add`](crate::progress::Probers::add).
    pub(crate) unsafe fn add_prober(&self, key: Key, prober: Asleep) -> bool {
        // SAFETY: the caller's promise.
        look!(self, core => unsafe { core.add_prober(key, prober) })
    }

    /// Takes a prober out. False if it was told.
    pub(crate) fn remove_prober(&self, key: Key, prober: Asleep) -> bool {
        look!(self, core => core.remove_prober(key, prober))
    }

    /// Takes back a posted receive, if it was not matched yet; it completes as cancelled.
    pub(crate) fn cancel_receive(&self, id: RequestId) {
        run!(self, Main, core => core.cancel_receive(id));
    }

    /// Completes a request when nothing is pending in a buffer of buffered sends.
    pub(crate) fn add_flush(&self, flush: Flush) {
        run!(self, Main, core => core.large(Path::Main, move |large| large.flushes.push(flush)));
    }

    /// Has something done when other operations are over.
    pub(crate) fn follow(&self, sequel: Box<dyn Sequel>) {
        run!(self, Main, core => core.large(Path::Main, move |large| large.follow(sequel)));
    }

    /// Leaves a request that is under way to itself.
    pub(crate) fn abandon(&self, id: RequestId) {
        run!(self, Main, core => core.large(Path::Main, move |large| large.abandon(id)));
    }

    /// Runs something about requests that no other thread may do at the same time: what the program itself completes it may
    /// also free. Returns what `operation` does: the request to be completed, and something for the caller.
    pub(crate) fn settle<R: Send>(&self, operation: impl FnOnce() -> (Option<RequestId>, R) + Send) -> R {
        run!(self, Main, core => core.settle(operation))
    }

    /// Whether nothing waits to be sent.
    pub(crate) fn is_drained(&self) -> bool {
        look!(self, core => core.is_drained())
    }

    /// Makes progress as far as nobody else is there to make it. Returns whether anything happened.
    #[inline]
    pub(crate) fn progress(&self) -> bool {
        self.progress_by(|state| state.try_with(Path::Progress, |core| core.step(Entry::Try)))
    }

    /// As [`progress`](Self::progress), by a thread that is at home on another VNI and looks in here now and then.
    pub(crate) fn visit(&self) -> bool {
        self.progress_by(|state| state.try_visit(|core| core.step(Entry::Try)))
    }

    /// As [`progress`](Self::progress), but waits for the section so long, if its lock lets a waiter give up.
    #[inline]
    pub(crate) fn progress_within(&self, patience_ns: u64) -> bool {
        self.progress_by(|state| state.with_within(Path::Progress, patience_ns, |core| core.step(Entry::Try)))
    }

    /// Makes progress, where the VNI has a section as `enter` says. Where it has many none is held for long: who finds one taken
    /// leaves the rest to whoever is there.
    #[inline(always)]
    fn progress_by(&self, enter: impl FnOnce(&Guarded<Core<Whole>>) -> Option<Step>) -> bool {
        let step = match &self.state {
            State::Whole(state) => enter(state),
            State::Parted(core) => Some(apart(|| core.step(Entry::Try))),
            State::LockFree(core) => Some(apart(|| core.step(Entry::Try))),
        };
        step.is_some_and(|step| self.carry_out(step))
    }

    /// Makes progress for certain: waits for the sections, since whoever is in them may be none who looks; or, under
    /// `lock-free`, takes somebody's being there for something that happens. Returns whether anything happened or is left to
    /// do.
    #[cold]
    pub(crate) fn look(&self) -> bool {
        let step = match &self.state {
            State::LockFree(core) => apart(|| core.step(Entry::TryForCertain)),
            _ => run!(self, Progress, core => core.step(Entry::Wait)),
        };
        self.carry_out(step)
    }

    #[inline]
    fn carry_out(&self, step: Step) -> bool {
        match step {
            Step::Nothing => false,
            Step::Happened => true,
            Step::Pull(pull) => {
                let result = pull.run();
                run!(self, Progress, core => core.finish_pull(pull, result));
                true
            }
            Step::Push(push) => {
                let result = push.run();
                run!(self, Progress, core => core.finish_push(&push, &result));
                true
            }
        }
    }
}
