//! The interface of a VNI: operations that enter its critical section.

use super::channel::Peer;
use super::core::Core;
use super::direct::Direct;
use super::message::{Message, SendArgs};
use super::peers::Peers;
use super::rendezvous_state::Sequel;
use super::step::{Entry, Step};
use super::task::Task;
use super::waiters::{LastPoll, LastVisit, WaitingThreads};
use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, OutOfRequests, Outcome, RequestId};
use crate::spread::{SpreadBy, SpreadMarks, Spreading, may_be_spread};
use heddle_model::{Guarded, LockFree, Objects, Parted, Path, ProgressEntry, Sections, Whole};
use heddle_objects::probers::Asleep;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_sync::CachePadded;
use heddle_sync::queues::tasks::Tasks;
use heddle_transport::{Fabric, Header, INLINE_BYTES};
use std::sync::{Arc, OnceLock};

/// One VNI.
#[derive(Debug)]
pub struct Vni {
    pub(crate) state: VniState,
    /// The channels of a whole VNI, if a thread may use them without the VNI's critical section.
    pub(crate) channels: Option<Arc<Peers<Whole>>>,
    pub(crate) rank: usize,
    /// Its number.
    pub(crate) index: usize,
    /// Messages that are spread over VNIs.
    pub(crate) spreading: Arc<Spreading<Message>>,
    pub(crate) spread_marks: Arc<SpreadMarks>,
    /// All VNIs of the process, if messages may be spread over them.
    pub(crate) all: OnceLock<&'static [Vni]>,
    /// The way in which a waiting thread enters critical sections to make progress.
    pub(crate) progress_entry: ProgressEntry,
    /// True if a send that is complete at once needs no request.
    pub(crate) may_do_without_requests: bool,
    /// The number of rendezvous offers of this VNI that their receivers have not fetched.
    offers: Arc<AtomicUsize>,
    /// The threads that wait on the VNI.
    pub waiting_threads: WaitingThreads,
    /// The time of the last poll by a test.
    pub last_poll: LastPoll,
    /// The time of the last visit by a thread that waits elsewhere.
    last_visit: LastVisit,
    pub(super) tasks: Tasks<Box<dyn Task>>,
}

/// The objects of a VNI, behind one critical section or each behind a separate one.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one step fewer to the state of most models; there are few VNIs"
)]
pub(crate) enum VniState {
    Whole(CachePadded<Guarded<Core<Whole>>>),
    Parted(Box<Core<Parted>>),
    LockFree(Box<Core<LockFree>>),
}

/// Does the same as `run`, for an operation that only polls: it creates, completes and frees no request.
macro_rules! poll {
    ($vni:expr, $core:ident => $operation:expr) => {
        match &$vni.state {
            VniState::Whole(state) => state.poll(move |$core: &mut Core<Whole>| $operation),
            VniState::Parted($core) => apart(move || $operation),
            VniState::LockFree($core) => apart(move || $operation),
        }
    };
}

/// Runs an operation out of line if each object has a critical section, so that the code of
/// the other case stays small.
#[inline(never)]
pub(crate) fn apart<R>(operation: impl FnOnce() -> R) -> R {
    operation()
}

/// Polls a VNI at most `polls` times, until `poll` sees a message.
#[inline(always)]
pub(crate) fn poll_directly(
    state: &Guarded<Core<Whole>>,
    polls: u32,
    poll: impl Fn(&mut Core<Whole>) -> Direct + Copy + Send,
) -> Direct {
    let mut entered = 0;
    for _ in 0..polls {
        let Some(seen) = state.try_poll(poll) else { continue };
        entered += 1;
        if !matches!(seen, Direct::Nothing) {
            state.count_polls(entered, matches!(seen, Direct::Received(..)));
            return seen;
        }
    }
    state.count_polls(entered, false);
    Direct::Nothing
}

impl Vni {
    /// Makes the VNI with the number `index`. It throttles its senders while its unexpected messages take
    /// more than `unexpected_bytes`.
    pub fn new(fabric: &Fabric, index: usize, sections: &Arc<Sections>, unexpected_bytes: usize) -> Vni {
        Vni::spreading(fabric, index, sections, unexpected_bytes, Arc::new(Spreading::never()))
    }

    /// Does the same; `spreading` says over which VNIs its messages may be spread.
    pub fn spreading(
        fabric: &Fabric,
        index: usize,
        sections: &Arc<Sections>,
        unexpected_bytes: usize,
        spreading: Arc<Spreading<Message>>,
    ) -> Vni {
        let offers = Arc::<AtomicUsize>::default();
        let throttle = Arc::new(fabric.throttle(index, unexpected_bytes));
        let counts = offers.clone();
        let mut channels = None;
        let state = match sections.objects() {
            Objects::Parted => {
                let peers = Arc::new(Peers::new(fabric, index, sections));
                let core = Core::new(fabric, index, sections, &peers, counts, throttle, &spreading);
                VniState::Parted(Box::new(core))
            }
            Objects::LockFree => {
                let peers = Arc::new(Peers::new(fabric, index, sections));
                let core = Core::new(fabric, index, sections, &peers, counts, throttle, &spreading);
                VniState::LockFree(Box::new(core))
            }
            Objects::Whole => {
                let peers = Arc::new(Peers::new(fabric, index, sections));
                let core = Core::new(fabric, index, sections, &peers, counts, throttle, &spreading);
                channels = sections.parts_channels().then_some(peers);
                VniState::Whole(CachePadded::new(sections.guard_vni(index, core)))
            }
        };
        let vni = Vni {
            state,
            channels,
            rank: fabric.rank(),
            index,
            spread_marks: spreading.join(index, &offers),
            all: OnceLock::new(),
            spreading,
            progress_entry: sections.progress_entry(),
            may_do_without_requests: sections.may_do_without_requests(),
            offers,
            waiting_threads: WaitingThreads::default(),
            last_poll: LastPoll::default(),
            last_visit: LastVisit::default(),
            tasks: Tasks::default(),
        };
        vni.apply_spread_rule();
        vni
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.index as u32
    }

    /// Returns true if messages of this home may be on lanes.
    #[inline(always)]
    pub(crate) fn has_lanes(&self) -> bool {
        self.spread_marks.is_elsewhere()
    }

    /// Returns true if receivers may wait for this process to send them data that it has offered.
    #[inline(always)]
    pub fn has_offers(&self) -> bool {
        self.offers.load(Ordering::Relaxed) != 0
    }

    /// The sending side of a peer, if a thread may enter its channel alone.
    #[inline(always)]
    pub(crate) fn peer_apart(&self, peer: usize) -> Option<&Peer<Whole>> {
        Some(self.channels.as_ref()?.of(peer))
    }

    /// Sends a small message to another process, if that is possible at once and without a request.
    #[inline(always)]
    pub fn send_at_once(&self, peer: usize, header: Header, buffer: Buffer) -> bool {
        if buffer.len() > INLINE_BYTES || peer == self.rank {
            return false;
        }
        if let Some(to) = self.peer_apart(peer) {
            return to.send_apart(|channel| channel.send_at_once(&header, buffer));
        }
        match &self.state {
            // The message must not overtake an operation that this thread has posted
            // and no thread has run yet.
            VniState::Whole(state) if state.takes_posts() => {
                let sent = state.try_with(Path::Main, move |core| core.send_at_once(peer, &header, buffer));
                sent == Some(true)
            }
            _ => run!(self, Main, core => core.send_at_once(peer, &header, buffer)),
        }
    }

    /// Sends. Returns `None` if the send is complete; otherwise its request, which `request` makes.
    ///
    /// # Errors
    /// The error of `request`; nothing is sent then.
    #[inline]
    pub fn send(
        &self,
        args: SendArgs,
        request: impl FnOnce() -> Result<RequestId, OutOfRequests> + Send,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        if let Some(to) = self.peer_apart(args.peer)
            && args.peer != self.rank
        {
            if args.is_eager() && to.send_apart(|channel| channel.send_eager(&args)) {
                return Ok(None);
            }
            return self.issue_apart(to, args, request);
        }
        run!(self, Main, core => core.send(args, request))
    }

    /// Sends what the channel has not taken at once, which has a critical section of its own.
    #[inline(never)]
    fn issue_apart<F: FnOnce() -> Result<RequestId, OutOfRequests> + Send>(
        &self,
        to: &Peer<Whole>,
        mut args: SendArgs,
        mut request: F,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        if to.wishes_to_spread() && may_be_spread(args.context) {
            self.spread_to(args.peer, SpreadBy::TagAndSource);
        }
        loop {
            if to.sends_away(args.context) {
                match self.send_on_lane(args, request) {
                    Ok(sent) => return sent,
                    Err(back) => (args, request) = back,
                }
            }
            let issued = run!(self, Main, core => {
                // Inside of this critical section the way stays the same.
                if to.sends_away(args.context) { Err((args, request)) } else { Ok(core.issue(args, request)) }
            });
            match issued {
                Ok(issued) => return issued,
                Err(back) => (args, request) = back,
            }
        }
    }

    /// Does the same as [`send`](Self::send), or posts the send, which another thread then runs soon.
    ///
    /// # Errors
    /// The same as those of [`send`](Self::send).
    #[inline]
    pub fn issue_send(
        &self,
        args: SendArgs,
        request: impl FnOnce() -> Result<RequestId, OutOfRequests> + Send,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        match &self.state {
            VniState::Whole(state) if state.takes_posts() => {
                let send = |core: &mut Core<Whole>, (args, request)| core.send(args, request);
                let (args, request) = match state.run_soon((args, request), send) {
                    Ok(request) => return request,
                    Err(busy) => busy,
                };
                let id = request()?;
                // The operation may run after this call has returned, so from now on the
                // request keeps the datatype.
                // SAFETY: the request is new, and the caller holds the datatype.
                unsafe { request::set_buffer(id, args.buffer) };
                // SAFETY: the request is new, and not issued before it is posted below.
                unsafe { request::announce_send(id, args.peer) };
                state.post(move |core| {
                    let sent = core.send_into(id, args);
                    debug_assert!(sent.is_ok(), "this model spreads no messages");
                });
                Ok(Some(id))
            }
            _ => self.send(args, request),
        }
    }

    /// Sends, with a request that exists and is active.
    pub fn send_into(&self, id: RequestId, args: SendArgs) {
        if let Err(args) = run!(self, Main, core => core.send_into(id, args)) {
            self.send_into_lane(id, args);
        }
    }

    #[cold]
    fn send_into_lane(&self, id: RequestId, args: SendArgs) {
        if let Ok(None) = self.send(args, || Ok(id)) {
            self.complete_task(id, Outcome::empty());
        }
    }

    /// Receives: takes the message if it has arrived, otherwise posts the receive.
    #[inline(always)]
    pub fn receive(&self, id: RequestId, key: Key) {
        match &self.state {
            VniState::Whole(state) if state.takes_posts() => {
                if state.run_soon((), move |core, ()| core.receive_here(id, key)).is_err() {
                    state.post(move |core| core.receive_here(id, key));
                }
            }
            _ => {
                if self.spread_marks.concern(&key) {
                    return self.receive_by_lane(id, key);
                }
                match run!(self, Main, core => core.receive(id, key)) {
                    None => self.receive_by_lane(id, key),
                    Some(None) => {}
                    Some(Some(by)) => self.receives_change(request::comm_word(id), &key, by),
                }
            }
        }
    }

    /// Receives a message that [`take`](Self::take) removed before.
    pub fn receive_matched(&self, id: RequestId, buffer: Buffer, key: Key, message: Message) {
        run!(self, Main, core => core.receive_matched(id, buffer, &key, message));
    }

    /// Polls at most `polls` times for a message that a blocking receive may take from the ring.
    #[inline(always)]
    pub fn receive_directly(&self, polls: u32, key: Key, buffer: Buffer) -> Direct {
        let VniState::Whole(state) = &self.state else { return Direct::Ordinary };
        if self.progress_entry == ProgressEntry::Wait || self.spread_marks.is_elsewhere() {
            return Direct::Ordinary;
        }
        poll_directly(
            state,
            polls,
            #[inline(always)]
            move |core| core.receive_directly(key, buffer),
        )
    }

    /// Returns the exact key and the number of data bytes of the oldest unexpected message that a
    /// receive with this key matches.
    pub fn peek(&self, key: Key) -> Option<(Key, u64)> {
        poll!(self, core => core.peek(&key))
    }

    /// Removes and returns the oldest unexpected message that a receive with this key matches, for
    /// [`receive_matched`](Self::receive_matched).
    pub fn take(&self, key: Key) -> Option<(Key, Message)> {
        poll!(self, core => core.take(&key))
    }

    /// Registers a prober for the next message that a receive with this key matches. Returns
    /// false if one has arrived.
    ///
    /// # Safety
    /// The caller keeps the promise of [`Probers::add`](heddle_objects::probers::Probers::add).
    pub unsafe fn add_prober(&self, key: Key, prober: Asleep) -> bool {
        // SAFETY: the caller's promise.
        poll!(self, core => unsafe { core.add_prober(key, prober) })
    }

    /// Removes a prober. Returns false if it was signalled.
    pub fn remove_prober(&self, key: Key, prober: Asleep) -> bool {
        poll!(self, core => core.remove_prober(key, prober))
    }

    /// Cancels a posted receive if it was not matched yet.
    pub fn cancel_receive(&self, id: RequestId) {
        run!(self, Main, core => core.cancel_receive(id));
    }

    /// Cancels a send to another process if its message was not matched.
    pub(crate) fn cancel_send(&self, id: RequestId) {
        run!(self, Main, core => core.cancel_send(id));
    }

    /// Cancels a send to this process if its message waits on this VNI.
    pub(crate) fn cancel_send_to_self(&self, id: RequestId) -> bool {
        run!(self, Main, core => core.cancel_send_to_self(id))
    }

    /// Adds work that waits for the end of other operations.
    pub fn follow(&self, sequel: Box<dyn Sequel>) {
        run!(self, Main, core => core.rendezvous(Path::Main, move |rendezvous| rendezvous.follow(sequel)));
    }

    /// Keeps a freed request that is active until it is complete.
    pub fn abandon(&self, id: RequestId) {
        run!(self, Main, core => core.rendezvous(Path::Main, move |rendezvous| rendezvous.abandon(id)));
    }

    /// Runs an operation on requests in the rendezvous critical section, since the program may complete
    /// and free a generalized request at the same time. `operation` returns the request to complete,
    /// and a value for the caller.
    pub fn with_generalized<R: Send>(&self, operation: impl FnOnce() -> (Option<RequestId>, R) + Send) -> R {
        run!(self, Main, core => core.with_generalized(operation))
    }

    /// Returns true if nothing waits to be sent.
    pub fn is_drained(&self) -> bool {
        let are_spills_empty = |peers: &Arc<Peers<Whole>>| peers.made().all(|(_, to)| to.is_spill_empty());
        poll!(self, core => core.is_drained()) && self.channels.as_ref().is_none_or(are_spills_empty)
    }

    /// Wakes the sleeping threads of this process: there is work.
    pub(crate) fn wake_own_sleepers(&self) {
        poll!(self, core => core.wake_sleepers());
    }

    /// Polls, and makes progress, for a thread that waits on this VNI. Unless the model says that it waits
    /// for critical sections too, it does nothing while another thread is inside. Returns true if anything
    /// happened.
    #[inline]
    pub fn progress(&self) -> bool {
        if self.progress_entry == ProgressEntry::Wait {
            return self.progress_in_turn();
        }
        self.progress_by(|state| state.try_with(Path::Progress, |core| core.step(Entry::Try)))
    }

    /// Does the same as [`progress`](Self::progress), and waits for critical sections.
    #[cold]
    #[inline(never)]
    fn progress_in_turn(&self) -> bool {
        let step = run!(self, Progress, core => core.step(Entry::Wait));
        self.carry_out(step) | self.advance_tasks()
    }

    /// Does the same as [`progress`](Self::progress), for a thread that waits on another VNI and
    /// polls this one now and then: unless another thread did, shortly before `now` in ticks.
    pub fn visit(&self, now: u64) -> bool {
        self.last_visit.is_due(now) && self.progress_by(|state| state.try_visit(|core| core.step(Entry::Try)))
    }

    /// Does the same as [`progress`](Self::progress), but waits for the critical section for up to
    /// `patience_ns`, if its lock lets a waiter give up. Calls `refused` if another thread was inside.
    #[inline]
    pub fn progress_within(&self, patience_ns: u64, refused: impl FnOnce()) -> bool {
        self.progress_by(|state| {
            let step = state.with_within(Path::Progress, patience_ns, |core| core.step(Entry::Try));
            if step.is_none() {
                refused();
            }
            step
        })
    }

    /// Makes progress. If the VNI has one critical section, `enter` enters it. If it has many, no thread
    /// stays in one for long; a step that finds one taken leaves the rest to the thread inside.
    #[inline(always)]
    fn progress_by(&self, enter: impl FnOnce(&Guarded<Core<Whole>>) -> Option<Step>) -> bool {
        let step = match &self.state {
            VniState::Whole(state) => enter(state),
            VniState::Parted(core) => Some(apart(|| core.step(Entry::Try))),
            VniState::LockFree(core) => Some(apart(|| core.step(Entry::Try))),
        };
        step.is_some_and(|step| self.carry_out(step)) | self.advance_tasks()
    }

    /// Makes progress for certain. It waits for critical sections, since a thread inside may be one that does
    /// not poll. Under `lock-free` it does not wait, but counts a taken critical section as something that
    /// happens. Returns true if anything happened or is left to do.
    #[cold]
    pub fn poll_for_certain(&self) -> bool {
        let step = match &self.state {
            VniState::LockFree(core) => apart(|| core.step(Entry::TryForCertain)),
            _ => run!(self, Progress, core => core.step(Entry::Wait)),
        };
        self.carry_out(step) | self.advance_tasks_for_certain()
    }

    #[inline]
    pub(super) fn carry_out(&self, step: Step) -> bool {
        match step {
            Step::Nothing => false,
            Step::Happened => true,
            Step::Spread(event) => {
                self.act_on(event);
                true
            }
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
