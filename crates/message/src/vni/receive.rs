//! Receiving: from the ring, or from the unexpected messages, to a receive.

use super::core::{Core, MatchingShard};
use super::message::{Content, Message};
use super::ring_access::Rules;
use super::trace;
use super::under_way::{Half, HalfEnd};
use super::wire::{self, Cts, Rts};
use crate::buffer::{Buffer, copy_small};
use crate::error::Error;
use crate::matching::Key;
use crate::request::{self, Outcome, RequestId, Stage};
use crate::spread::{SpreadBy, SpreadEvent, may_be_spread};
use crate::transfer_method::TransferMethod;
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf};
use heddle_objects::probers::Asleep;
use heddle_spec::constants as mpi;
use heddle_transport::{Garbage, Header, Incoming, LOST};

impl<S: Rules> Core<S> {
    /// Handles a message that has arrived. The caller is in the critical section of arrivals.
    #[inline(always)]
    pub(crate) fn arrive(&self, peer: usize, message: &Incoming) {
        if message.header.kind != wire::EAGER {
            // A copy: a message that is passed on lies in memory, and one that is not stays in registers.
            let message = *message;
            return match message.header.kind {
                wire::STAMPED_EAGER => self.stamped_message_arrives(peer, &message),
                _ => self.protocol_message_arrives(peer, &message),
            };
        }
        let payload = message.payload();
        let stored = move || eager_message(peer, payload);
        if let Some((id, key)) = self.match_or_store(&message.header, stored) {
            trace::matched(&key, move || payload.len() as u64, false);
            self.deliver(id, &key, payload);
        }
    }

    /// Handles an eager message that has a stamp.
    #[inline(never)]
    fn stamped_message_arrives(&self, peer: usize, message: &Incoming) {
        let Some((stamp, data)) = wire::stamped(message).filter(|_| self.fabric.is_local(peer)) else {
            self.fabric.refuse(peer, Garbage::Form { kind: message.header.kind, len: message.len() })
        };
        let stored = || eager_message(peer, data);
        if let Some((id, key)) = self.match_maybe_stamped(&message.header, peer, Some(stamp), stored) {
            trace::matched(&key, || data.len() as u64, false);
            self.deliver(id, &key, data);
        }
    }

    /// Handles a message that is not eager.
    #[inline(never)]
    fn protocol_message_arrives(&self, peer: usize, message: &Incoming) {
        let header = &message.header;
        match header.kind {
            wire::SYNC => {
                self.check_form(peer, message);
                let [sender, stamp, _] = wire::from_bytes(&message.extra());
                let (sender, stamp) = (sender as RequestId, (header.aux == wire::STAMPED).then_some(stamp));
                let stored =
                    || Message { peer, content: Content::Synchronous(message.payload().into(), sender) };
                if let Some((id, key)) = self.match_maybe_stamped(header, peer, stamp, stored) {
                    trace::matched(&key, || message.payload().len() as u64, false);
                    self.deliver(id, &key, message.payload());
                    self.tell_sender(peer, sender, None);
                }
            }
            wire::RTS => {
                self.check_form(peer, message);
                let mut rts = Rts::from_bytes(message.payload());
                let stamp = if header.aux == wire::STAMPED { rts.key.take() } else { None };
                let stored = || Message { peer, content: Content::Rendezvous(rts) };
                if let Some((id, key)) = self.match_maybe_stamped(header, peer, stamp, stored) {
                    trace::matched(&key, || rts.len, false);
                    self.fetch(id, &key, peer, rts);
                }
            }
            wire::SPREAD..=wire::ASK => {
                self.check_form(peer, message);
                self.spread_notice_arrives(peer, message);
            }
            wire::CTS..=wire::FETCHED | wire::FETCH | wire::STORE => {
                self.check_form(peer, message);
                self.answer_arrives(peer, message);
            }
            wire::HISTORY..=wire::DISAGREED => {
                self.check_form(peer, message);
                self.history_arrives(peer, message);
            }
            LOST => {
                self.check_form(peer, message);
                self.loss_arrives(peer, message);
            }
            other => self.fabric.refuse(peer, Garbage::Kind(other)),
        }
    }

    /// Handles a message that continues an operation in progress.
    fn answer_arrives(&self, peer: usize, message: &Incoming) {
        let method = TransferMethod::from_wire(message.header.aux);
        match message.header.kind {
            wire::CTS => {
                let cts = self.check_cts(peer, Cts::from_bytes(message.payload()));
                self.note_choice(peer, cts.sender, method);
                self.clear_to_send(cts);
            }
            wire::DATA => self.piece_arrived(peer, message),
            wire::PUSH => {
                let push = wire::Push::from_bytes(message.payload());
                let send = self.answered_send(peer, wire::PUSH, u64::from(push.sender));
                self.note_choice(peer, send, method);
                self.push_wanted(push);
            }
            wire::PUSHED => {
                let [receive, end, _] = wire::from_bytes(message.payload());
                let receive = self.receive_of_half(peer, receive);
                self.half_is_over(receive, Half::Rear, HalfEnd::from_word(end));
            }
            wire::FETCHED => {
                let [receive, sender, _] = wire::from_bytes(message.payload());
                self.fetched(receive as RequestId, sender as RequestId);
            }
            wire::FETCH => self.serve_fetch(peer, wire::from_bytes(message.payload())),
            wire::STORE => self.serve_store(peer, message),
            wire::WITHDRAW => self.withdraw(peer, message),
            wire::WITHDRAWN => {
                let [sender, withdrawn, _] = wire::from_bytes(message.payload());
                let withdrawn = withdrawn != 0;
                self.withdrawal_answered(self.withdrawing_send(peer, sender, withdrawn), withdrawn);
            }
            _ => {
                let [sender, ..] = wire::from_bytes(message.payload());
                let send = self.answered_send(peer, wire::FIN, sender);
                self.note_choice(peer, send, method);
                self.sender_done(send);
            }
        }
    }

    /// Takes out the receive that a message matches; the caller has its in-flight state from then on. If
    /// there is none, stores the message that `stored` makes.
    #[inline(always)]
    fn match_or_store(&self, header: &Header, stored: impl FnOnce() -> Message) -> Option<(RequestId, Key)> {
        let key = Key { context: header.context, envelope: header.envelope };
        self.matching_shard(key.context).with_or_leave(
            Path::Progress,
            stored,
            #[inline(always)]
            |shard, stored| {
                let receive = Self::match_arrival(shard, &key);
                if receive.is_none() {
                    shard.store(key, stored());
                }
                receive.map(|id| (id, key))
            },
            |stored| (self.match_later(key, stored()), None),
        )
    }

    /// Does the same as [`match_or_store`](Self::match_or_store) for a message that may have a stamp, which
    /// may be held instead.
    #[inline]
    fn match_maybe_stamped(
        &self,
        header: &Header,
        peer: usize,
        stamp: Option<u64>,
        stored: impl Fn() -> Message,
    ) -> Option<(RequestId, Key)> {
        let Some(stamp) = stamp else { return self.match_or_store(header, stored) };
        let key = Key { context: header.context, envelope: header.envelope };
        if self.spreading.may_hold()
            && let Some(home) = self.spreading.hold(self.index, (stamp, key), &stored, peer)
        {
            self.note_spread_event(SpreadEvent::Held(home));
            return None;
        }
        self.matching_shard(key.context).with_or_leave(
            Path::Progress,
            stored,
            |shard, stored| {
                let receive = Self::match_arrival(shard, &key);
                if receive.is_none() {
                    shard.store_stamped(key, stored(), stamp);
                }
                receive.map(|id| (id, key))
            },
            |stored| (self.match_later(key, stored()), None),
        )
    }

    /// Takes out the receive that a message matches; the caller has its in-flight state from then on.
    #[inline(always)]
    fn match_arrival(shard: &mut MatchingShard, key: &Key) -> Option<RequestId> {
        let receive = shard.matching.match_arrival(key);
        if S::PARTED {
            // Otherwise the thread that makes progress counts the steps of all messages together.
            counters::count(CountedEvent::MatchingStep, shard.matching.take_steps());
        }
        receive
    }

    /// Makes the operation that matches or stores a message, for the thread inside the critical section,
    /// which runs it for the caller.
    pub(crate) fn match_later(
        &self,
        key: Key,
        message: Message,
    ) -> impl FnOnce(&mut MatchingShard) + Send + use<S> {
        let lasting = Lasting(self);
        move |shard: &mut MatchingShard| {
            // SAFETY: the thread that runs this is in a critical section of the core, so the core exists.
            let core = unsafe { lasting.core() };
            match Self::match_arrival(shard, &key) {
                Some(id) => {
                    trace::matched(&key, || message.bytes(), false);
                    core.accept(id, &key, message);
                }
                None => shard.store(key, message),
            }
        }
    }

    /// Receives: takes the message if it has arrived, otherwise posts the receive. Returns `None` and does
    /// nothing if the message may be on a lane (`spread`); otherwise, what
    /// [changes of receives](crate::spread::ReceiveChanges::note) say.
    #[inline(always)]
    pub(crate) fn receive(&self, id: RequestId, key: Key) -> Option<Option<SpreadBy>> {
        if !S::PARTED && self.is_watched() && may_be_spread(key.context) {
            return None;
        }
        self.receive_here(id, key);
        Some(if S::PARTED { None } else { self.receive_changes.note(key.envelope) })
    }

    /// Returns true if messages of this home may be on lanes.
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.matching_shard(0).with(
            Path::Main,
            #[inline(always)]
            |shard| shard.matching.is_watched(),
        )
    }

    /// Receives on this VNI: takes the message if it has arrived, otherwise posts the receive.
    #[inline(always)]
    pub(crate) fn receive_here(&self, id: RequestId, key: Key) {
        let taken = self.matching_shard(key.context).with_or_leave(
            Path::Main,
            (),
            #[inline(always)]
            |shard, ()| take_or_post(shard, id, key),
            |()| (self.receive_later(id, key), None),
        );
        if let Some((exact, message)) = taken {
            self.accept(id, &exact, message);
        }
    }

    /// Makes the operation that receives, for the thread inside the critical section,
    /// which runs it for the caller.
    fn receive_later(&self, id: RequestId, key: Key) -> impl FnOnce(&mut MatchingShard) + Send + use<S> {
        let lasting = Lasting(self);
        move |shard: &mut MatchingShard| {
            // SAFETY: the thread that runs this is in a critical section of the core, so the core exists.
            let core = unsafe { lasting.core() };
            if let Some((exact, message)) = take_or_post(shard, id, key) {
                core.accept(id, &exact, message);
            }
        }
    }

    /// Returns the exact key and the number of data bytes of the oldest unexpected message that a
    /// receive with this key matches.
    pub(crate) fn peek(&self, key: &Key) -> Option<(Key, u64)> {
        self.matching_shard(key.context)
            .poll(|shard| shard.matching.peek(key).map(|(exact, message)| (exact, message.bytes())))
    }

    /// Removes and returns the oldest unexpected message that a receive with this key matches.
    pub(crate) fn take(&self, key: &Key) -> Option<(Key, Message)> {
        self.matching_shard(key.context).poll(|shard| shard.take(key))
    }

    /// Registers a prober for the next message that a receive with this key matches. Returns
    /// false if one has arrived.
    ///
    /// # Safety
    /// The caller keeps the promise of [`Probers::add`](heddle_objects::probers::Probers::add).
    pub(crate) unsafe fn add_prober(&self, key: Key, prober: Asleep) -> bool {
        self.matching_shard(key.context).poll(|shard| {
            let wait = shard.matching.peek(&key).is_none();
            if wait {
                // SAFETY: the caller's promise.
                unsafe { shard.probers.add(key, prober) };
            }
            wait
        })
    }

    /// Removes a prober. Returns false if it was signalled.
    pub(crate) fn remove_prober(&self, key: Key, prober: Asleep) -> bool {
        self.matching_shard(key.context).poll(|shard| shard.probers.remove(prober))
    }

    /// Receives a message that `take` removed before (`MPI_Mrecv`).
    pub(crate) fn receive_matched(&self, id: RequestId, buffer: Buffer, key: &Key, message: Message) {
        // SAFETY: the request was just taken and is not issued yet; the caller holds the datatype.
        unsafe { request::set_buffer(id, buffer) };
        // SAFETY: the request was just taken and is not issued yet, so the caller has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        in_flight.context = key.context;
        in_flight.stage = Stage::UnderWay;
        self.accept(id, key, message);
    }

    /// Delivers an unexpected message to a receive. The caller has the message and the
    /// receive's in-flight state.
    pub(crate) fn accept(&self, id: RequestId, key: &Key, message: Message) {
        match message.content {
            Content::Inline { len, data } => self.deliver(id, key, &data[..usize::from(len)]),
            Content::Bulk(data) => self.deliver(id, key, &data),
            Content::Synchronous(data, sender) => {
                self.deliver(id, key, &data);
                self.tell_sender(message.peer, sender, None);
            }
            Content::Rendezvous(rts) => self.fetch(id, key, message.peer, rts),
            Content::Local(send) => self.deliver_local(send, id, key),
        }
    }

    /// Copies the data to the receive's buffer and completes it.
    #[inline(always)]
    pub(crate) fn deliver(&self, id: RequestId, key: &Key, data: &[u8]) {
        // SAFETY: the thread that matches a receive has its in-flight state.
        let buffer = &unsafe { request::in_flight(id) }.buffer;
        match buffer.contiguous() {
            Some(to) if data.len() <= buffer.len() => {
                // SAFETY: the buffer is valid by the promise made to `Buffer::new`, and has room.
                unsafe { copy_small(data.as_ptr(), to, data.len()) };
                self.complete_receive(id, key, data.len() as u64, None);
            }
            _ => self.deliver_in_parts(id, *key, data),
        }
    }

    /// Does the same for a buffer with gaps, or one that is too short for the data.
    #[inline(never)]
    fn deliver_in_parts(&self, id: RequestId, key: Key, data: &[u8]) {
        // SAFETY: the thread that matches a receive has its in-flight state.
        let buffer = unsafe { request::in_flight(id) }.buffer;
        let (len, room) = (data.len(), buffer.len());
        let error = (len > room).then(|| truncated(&key, len as u64, room));
        let written = len.min(room);
        buffer.write(0, &data[..written]);
        self.complete_receive(id, &key, written as u64, error);
    }

    #[inline(always)]
    pub(crate) fn complete_receive(&self, id: RequestId, key: &Key, bytes: u64, error: Option<Error>) {
        let (source, tag) = (key.source(), key.tag());
        // Matched, not asked: an error that is none must not be dropped by a call.
        if let Some(error) = error {
            return self.complete(id, Outcome { source, tag, bytes, cancelled: false, error: Some(error) });
        }
        // SAFETY: the request is active, and the caller has its in-flight state.
        let part = unsafe { request::complete_received(id, source, tag, bytes) };
        self.completed(part);
    }

    /// Tells the sender that its message was copied, by a method that was chosen or not, or that its
    /// synchronous message was matched.
    pub(crate) fn tell_sender(&self, peer: usize, sender: RequestId, method: Option<TransferMethod>) {
        let header = wire::answer(wire::FIN, method);
        self.send_control_as(peer, header, wire::to_bytes([u64::from(sender), 0, 0]));
    }
}

/// The unexpected message with this payload. Out of line: most messages are expected.
#[inline(never)]
fn eager_message(peer: usize, payload: &[u8]) -> Message {
    Message::copy_of(peer, payload)
}

/// Removes and returns the unexpected message that a receive matches; if there is none, posts the receive.
#[inline(always)]
fn take_or_post(shard: &mut MatchingShard, id: RequestId, key: Key) -> Option<(Key, Message)> {
    if shard.matching.has_unexpected()
        && let Some(taken) = shard.take(&key)
    {
        return Some(taken);
    }
    let position = shard.matching.post(key, id);
    // SAFETY: the in-flight state of a posted receive belongs to the critical section of its matching
    // shard, where this thread is.
    unsafe { request::in_flight(id) }.stage = Stage::Posted(position);
    None
}

/// A core, for an operation that another thread runs in one of its critical sections.
struct Lasting<S: Rules>(*const Core<S>);

// SAFETY: operations are left only to threads inside of cores that many threads share.
unsafe impl<S: Rules> Send for Lasting<S> {}

impl<S: Rules> Lasting<S> {
    /// # Safety
    /// The core still exists.
    unsafe fn core<'a>(&self) -> &'a Core<S> {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }
    }
}

/// The error of a receive whose buffer is too small.
#[cold]
pub(crate) fn truncated(key: &Key, len: u64, room: usize) -> Error {
    let message = format!(
        "the message from rank {} with tag {} has {len} bytes but the receive buffer only {room}: the rest is lost",
        key.source(),
        key.tag()
    );
    Error::new(mpi::MPI_ERR_TRUNCATE, message)
}
