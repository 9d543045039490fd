//! Sending: from a send to the wire.
//!
//! | data | protocol |
//! |---|---|
//! | up to 40 bytes | eager, inside the slot |
//! | up to the eager limit | eager, through the bulk area |
//! | synchronous mode, up to the eager limit | the same, and the receiver says when it matched |
//! | more | rendezvous |
//! | any, to a receiver that throttles its senders | rendezvous |
//!
//! A message that finds no room waits in the channel's backlog, and so does everything behind it: messages to
//! one peer leave in the order in which they were sent.

use super::backlog::Queued;
use super::channel::{Channel, Peer, send_eager, send_stamped};
use super::core::Core;
use super::message::SendArgs;
use super::ring_access::{FromOutside, Rules};
use super::step::Entry;
use super::wire::{self, Rts};
use crate::buffer::{Buffer, copy_small};
use crate::request::{self, OutOfRequests, Outcome, RequestId, Stage};
use crate::spread::{may_be_spread, stamp};
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf};
use heddle_transport::{EXTRA_BYTES, Envelope, Header, RingAccess, Stores, Traffic};

impl<S: Rules> Core<S> {
    /// Sends a small message to another process now, without a request, if there is room.
    #[inline(always)]
    pub(crate) fn send_at_once(&self, peer: usize, header: &Header, buffer: Buffer) -> bool {
        let len = buffer.len();
        self.send_inline(
            peer,
            header,
            len,
            #[inline(always)]
            |to| buffer.read(0, to, len),
        )
    }

    /// Sends `len` bytes from `from`, at most [`INLINE_BYTES`](super::INLINE_BYTES), to another process, if
    /// there is room.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads.
    pub(super) unsafe fn send_express(
        &self,
        peer: usize,
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> bool {
        self.send_inline(
            peer,
            header,
            len,
            #[inline(always)]
            // SAFETY: the caller promises the source; a slot has room for `INLINE_BYTES`.
            |to| unsafe { copy_small(from, to, len) },
        )
    }

    /// Sends `len` bytes within a slot, unless messages are queued. `fill` writes them.
    #[inline(always)]
    fn send_inline(&self, peer: usize, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        self.send_if_idle(
            peer,
            Path::Main,
            #[inline(always)]
            |ring| ring.send_inline(header, len, fill),
        )
    }

    /// Sends an eager message by `send`, within the channel's critical section or outside,
    /// unless messages are queued.
    #[inline(always)]
    fn send_if_idle(&self, peer: usize, path: Path, send: impl FnOnce(S::RingAccess<'_>) -> bool) -> bool {
        let to = &self.peers.of(peer);
        match S::ring_outside(&to.outside, &to.backlogged) {
            FromOutside::Open(ring) => return send(ring),
            FromOutside::Queued => return false,
            FromOutside::Never => {}
        }
        to.channel.with(
            path,
            #[inline(always)]
            |channel| channel.backlog.is_open() && S::send_eagerly(&mut channel.ring, &to.outside, send),
        )
    }

    /// Sends a piece of a streamed message. Returns false if there is no room now.
    pub(crate) fn send_piece(
        &self,
        peer: usize,
        kind: u8,
        extra: &[u8; EXTRA_BYTES],
        len: usize,
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool {
        let (header, to) = (wire::control(kind), &self.peers.of(peer));
        match S::ring_outside(&to.outside, &to.backlogged) {
            FromOutside::Open(ring) => return ring.send_bulk(Traffic::Protocol, &header, len, extra, fill),
            FromOutside::Queued => return false,
            FromOutside::Never => {}
        }
        to.channel.with(Path::Progress, |channel| {
            let ring = &mut channel.ring;
            channel.backlog.is_empty()
                && S::ring_inside(ring, &to.outside).send_bulk(Traffic::Protocol, &header, len, extra, fill)
        })
    }

    /// Does the same as [`send`](Self::send), with a request that exists.
    ///
    /// # Errors
    /// The arguments, if the messages to the peer are spread over other VNIs; then nothing is sent.
    pub(crate) fn send_into(&self, id: RequestId, args: SendArgs) -> Result<(), SendArgs> {
        if self.peers.of(args.peer).sends_away(args.context) {
            return Err(args);
        }
        if let Ok(None) = self.send(args, || Ok(id)) {
            self.complete(id, Outcome::empty());
        }
        Ok(())
    }

    /// Sends. Returns `None` if the send is complete; otherwise the request, made by `request`, that will be.
    /// If there is none, nothing is sent.
    #[inline]
    pub(crate) fn send(
        &self,
        mut args: SendArgs,
        request: impl FnOnce() -> Result<RequestId, OutOfRequests>,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        if args.peer == self.rank {
            return self.send_to_self(&mut args, request, false);
        }
        if args.is_eager() {
            let (header, buffer) = (args.header(wire::EAGER), args.buffer);
            if self.send_if_idle(args.peer, Path::Main, |ring| send_eager(ring, &header, buffer)) {
                return Ok(None);
            }
        }
        self.issue(args, request)
    }

    /// Does the same as [`send`](Self::send), to another process, for a send that could not be made at once.
    pub(crate) fn issue(
        &self,
        args: SendArgs,
        request: impl FnOnce() -> Result<RequestId, OutOfRequests>,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        let id = request()?;
        Ok(Some(self.begin(args, id)))
    }

    /// Moves the arguments into a request and begins it, or queues it.
    fn begin(&self, args: SendArgs, id: RequestId) -> RequestId {
        let peer = args.peer;
        fill(id, args);
        self.begin_filled(id, peer);
        id
    }

    /// Begins a send whose arguments are in its request, or queues it.
    pub(crate) fn begin_filled(&self, id: RequestId, peer: usize) {
        let to = &self.peers.of(peer);
        to.channel.with(Path::Main, |channel| {
            if !channel.backlog.is_empty() || !self.start_on(channel, to, id) {
                self.enqueue(channel, peer, Queued::Send(id));
            }
        });
    }

    /// Does the same as [`start`](Self::start), within the channel's critical section, and says when the
    /// message was sent if the channel wants that.
    fn start_on(&self, channel: &mut Channel<S::Inside>, to: &Peer<S>, id: RequestId) -> bool {
        let stamped = to.stamps() && {
            // SAFETY: the in-flight state of a send that has not begun belongs to the critical section of the
            // channel that it waits for, where this thread is.
            may_be_spread(unsafe { request::in_flight(id) }.context)
        };
        self.start(&mut channel.ring, &to.outside, id, stamped.then(stamp::now))
    }

    /// Puts the first message of a send on the wire, with a stamp if there is one. Returns false if there is
    /// no room. If it is on the wire and the send is not complete, its in-flight state belongs to the thread
    /// that reads the receiver's answer.
    pub(crate) fn start(
        &self,
        ring: &mut S::Inside,
        outside: &S::Outside,
        id: RequestId,
        stamp: Option<u64>,
    ) -> bool {
        // SAFETY: the in-flight state of a send that has not begun belongs to the critical section of the
        // channel that it waits for, where this thread is.
        let in_flight = unsafe { request::in_flight(id) };
        let (buffer, len, synchronous) = (in_flight.buffer, in_flight.buffer.len(), in_flight.synchronous);
        let envelope = Envelope::new(in_flight.source, in_flight.tag);
        let aux = if stamp.is_some() { wire::STAMPED } else { 0 };
        let header = |kind| Header { kind, aux, context: in_flight.context, envelope };
        if len > self.fabric.longest_payload(in_flight.peer) {
            return self.offer(S::ring_inside(ring, outside), id, &header(wire::RTS), stamp);
        }
        if synchronous {
            let extra = wire::to_bytes([u64::from(id), stamp.unwrap_or(0), 0]);
            in_flight.stage = Stage::Offered;
            request::await_peer(id, self.index, in_flight.peer);
            // SAFETY: if the message was sent, the in-flight state is not touched.
            unsafe { request::hand_over(id) };
            let sent = S::send_eagerly(ring, outside, |ring| {
                ring.send_bulk(Traffic::Eager, &header(wire::SYNC), len, &extra, |to, stores| {
                    buffer.read_as(0, (to, stores), len)
                })
            });
            if sent {
                return true;
            }
            in_flight.stage = Stage::UnderWay;
            request::await_nobody(id);
        } else if S::send_eagerly(ring, outside, |ring| match stamp {
            None => send_eager(ring, &header(wire::EAGER), buffer),
            Some(stamp) => send_stamped(ring, &header(wire::STAMPED_EAGER), buffer, stamp),
        }) {
            self.sender_done(id);
            return true;
        }
        // Under `LockFree` the flag may have changed since: either answer is right, since nothing was sent.
        if !S::is_throttled(ring, outside) {
            return false;
        }
        let sent = self.offer(S::ring_inside(ring, outside), id, &header(wire::RTS), stamp);
        counters::count(CountedEvent::ThrottledSend, u64::from(sent));
        sent
    }

    /// Offers the data of a send to its receiver. Returns false if there is no room.
    fn offer(&self, ring: S::RingAccess<'_>, id: RequestId, header: &Header, stamp: Option<u64>) -> bool {
        // SAFETY: the send has not begun: its in-flight state is the caller's.
        let in_flight = unsafe { request::in_flight(id) };
        let address = in_flight.buffer.contiguous().map_or(0, |a| a.expose_provenance() as u64);
        let rts = Rts { len: in_flight.buffer.len() as u64, address, key: None, request: id };
        let exposed = self.expose(in_flight);
        (in_flight.offered, in_flight.stage) = (true, Stage::Offered);
        request::await_peer(id, self.index, in_flight.peer);
        self.count_offer(id, 1);
        // SAFETY: if the message was sent, the in-flight state is not touched.
        unsafe { request::hand_over(id) };
        let sent = match (exposed, stamp) {
            (None, None) => ring.send_control(header, &rts.to_bytes()),
            // Messages to other machines are not spread, so one word serves both.
            (None, Some(stamp)) => ring.send_control(header, &rts.with_key(stamp)),
            (Some((address, key)), _) => ring.send_control(header, &Rts { address, ..rts }.with_key(key)),
        };
        if !sent {
            (in_flight.offered, in_flight.stage) = (false, Stage::UnderWay);
            request::await_nobody(id);
            self.count_offer(id, -1);
        }
        sent
    }

    /// Sends a message of the protocol, or queues it.
    pub(crate) fn send_control(&self, peer: usize, kind: u8, words: [u8; EXTRA_BYTES]) {
        self.send_control_as(peer, wire::control(kind), words);
    }

    /// Does the same as [`send_control`](Self::send_control), with a given header.
    pub(crate) fn send_control_as(&self, peer: usize, header: Header, words: [u8; EXTRA_BYTES]) {
        let to = &self.peers.of(peer);
        if let FromOutside::Open(ring) = S::ring_outside(&to.outside, &to.backlogged)
            && ring.send_control(&header, &words)
        {
            return;
        }
        to.channel.with(Path::Main, |channel| {
            let send = |ring| S::ring_inside(ring, &to.outside).send_control(&header, &words);
            if !channel.backlog.is_empty() || !send(&mut channel.ring) {
                self.enqueue(channel, peer, Queued::Control(header, words));
            }
        });
    }

    pub(crate) fn enqueue(&self, channel: &mut Channel<S::Inside>, peer: usize, item: Queued) {
        let first = channel.backlog.is_empty();
        channel.backlog.push_back(item);
        S::change(&self.peers.of(peer).backlogged, 1);
        S::change(&self.backlogged, 1);
        if first {
            // This thread may leave MPI before there is room. A thread that was woken by new room before it
            // could know of the backlog has to poll again.
            self.wake_sleepers();
        }
    }

    /// Sends queued messages while there is room, and drops those to lost ranks.
    #[cold]
    pub(crate) fn drain_backlogs(&self, entry: Entry) -> bool {
        let mut happened = false;
        for (peer, to) in self.peers.made() {
            if to.queued() != 0 {
                let drained = entry.enter(&to.channel, |channel| self.drain(channel, peer));
                happened |= entry.happened(drained);
            }
        }
        if self.has_losses() {
            happened |= self.end_new_receives(entry);
        }
        happened
    }

    fn drain(&self, channel: &mut Channel<S::Inside>, peer: usize) -> bool {
        let (mut gone, to) = (0, &self.peers.of(peer));
        while let Some(item) = channel.backlog.pop_front() {
            let sent = match &item {
                Queued::Send(id) => self.start_on(channel, to, *id),
                Queued::Control(header, words) => {
                    S::ring_inside(&mut channel.ring, &to.outside).send_control(header, words)
                }
            };
            if !sent {
                channel.backlog.push_front(item);
                break;
            }
            gone += 1;
        }
        if gone != 0 {
            S::change(&to.backlogged, -gone);
            S::change(&self.backlogged, -gone);
        }
        if self.has_losses() && !channel.backlog.is_empty() && self.fabric.is_lost(peer) {
            self.drop_backlog(channel, peer);
            return true;
        }
        gone != 0
    }

    /// Completes a send whose data is on the wire, fetched, or matched; a send that is being withdrawn also
    /// waits for the receiver's answer.
    pub(crate) fn sender_done(&self, id: RequestId) {
        // SAFETY: the caller has the in-flight state; if the send is being withdrawn, the caller knows that
        // the transfer or the withdrawal is over, and no thread writes the stage.
        if unsafe { request::stage(id) } == Stage::Withdrawing && !request::is_last_part(id) {
            return;
        }
        self.end_send(id, Outcome::empty());
    }

    /// Completes a send. The caller has its in-flight state.
    pub(crate) fn end_send(&self, id: RequestId, outcome: Outcome) {
        // SAFETY: the caller has the in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        in_flight.keep = None;
        request::await_nobody(id);
        // A thread that wants to cancel the send reads the stage: there is nothing to cancel any more.
        in_flight.answered();
        if std::mem::take(&mut in_flight.offered) {
            self.count_offer(id, -1);
        }
        self.complete(id, outcome);
    }
}

/// Moves the arguments of a send into its request.
pub(crate) fn fill(id: RequestId, args: SendArgs) {
    // SAFETY: the request was just taken and is not issued yet; the caller holds the datatype.
    unsafe { request::set_buffer(id, args.buffer) };
    // SAFETY: the request was just taken and is not issued yet, so the caller has its in-flight state.
    let in_flight = unsafe { request::in_flight(id) };
    in_flight.peer = args.peer;
    in_flight.context = args.context;
    in_flight.source = args.source;
    in_flight.tag = args.tag;
    in_flight.synchronous = args.synchronous;
    in_flight.stage = Stage::UnderWay;
    in_flight.keep = args.keep;
}
