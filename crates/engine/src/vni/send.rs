//! From a send to the wire.
//!
//! | data | protocol |
//! |---|---|
//! | up to 40 bytes | eager, inside the slot |
//! | up to the eager limit | eager, through the bulk area |
//! | synchronous mode, up to the eager limit | the same, and the receiver says when it matched |
//! | more | rendezvous |
//!
//! What finds no room waits in the peer's backlog, and so does everything behind it: messages to one peer leave in
//! the order in which they were sent.

use super::Core;
use super::wire::{self, Rts};
use crate::buffer::Buffer;
use crate::request::{self, Outcome, RequestId, Stage};
use heddle_transport::{EXTRA_BYTES, Envelope, Header, INLINE_BYTES};
use std::any::Any;

/// Data up to this many bytes is sent eagerly.
const EAGER_LIMIT: usize = 32 << 10;

/// What a send needs to be known of.
#[derive(Debug)]
pub(crate) struct SendArgs {
    pub(crate) buffer: Buffer,
    /// World rank of the receiver.
    pub(crate) peer: usize,
    pub(crate) context: u64,
    /// Own rank in the communicator.
    pub(crate) source: i32,
    pub(crate) tag: i32,
    /// Complete only when matched.
    pub(crate) synchronous: bool,
    /// Memory to keep until the send completes.
    pub(crate) keep: Option<Box<dyn Any + Send>>,
}

impl SendArgs {
    #[inline(always)]
    fn header(&self, kind: u8) -> Header {
        Header { kind, aux: 0, context: self.context, envelope: Envelope::new(self.source, self.tag) }
    }
}

/// The header of an ordinary message.
#[inline(always)]
pub(crate) fn eager_header(context: u64, source: i32, tag: i32) -> Header {
    Header { kind: wire::EAGER, aux: 0, context, envelope: Envelope::new(source, tag) }
}

/// What waits for room in a ring.
#[derive(Debug)]
pub(super) enum Queued {
    /// A send that has not begun.
    Send(RequestId),
    /// A message of the protocol.
    Control(Header, [u8; EXTRA_BYTES]),
}

impl Core {
    /// Sends now if that is possible at once and without a request: a small message to another process.
    #[inline(always)]
    pub(crate) fn send_at_once(&mut self, peer: usize, header: &Header, buffer: &Buffer) -> bool {
        let len = buffer.len();
        len <= INLINE_BYTES
            && peer != self.rank
            && self.backlog[peer].is_empty()
            && self.outbox.send_inline(peer, header, len, |to| buffer.read(0, to, len))
    }

    /// Sends. Returns `None` if the send is complete; otherwise the request, made by `request`, that will be.
    #[inline]
    pub(crate) fn send(&mut self, args: SendArgs, request: impl FnOnce() -> RequestId) -> Option<RequestId> {
        if args.peer == self.rank {
            return self.send_to_self(args, request);
        }
        if !args.synchronous && self.backlog[args.peer].is_empty() && self.send_eager(&args) {
            return None;
        }
        Some(self.begin(args, request()))
    }

    /// Sends the data now, if it is small and there is room.
    #[inline(always)]
    fn send_eager(&mut self, args: &SendArgs) -> bool {
        let (header, len) = (args.header(wire::EAGER), args.buffer.len());
        if len <= INLINE_BYTES {
            self.outbox.send_inline(args.peer, &header, len, |to| args.buffer.read(0, to, len))
        } else if len <= EAGER_LIMIT {
            let extra = [0; EXTRA_BYTES];
            self.outbox.send_bulk(args.peer, &header, len, &extra, |to| args.buffer.read(0, to, len))
        } else {
            false
        }
    }

    /// Moves the arguments into a request and begins it, or queues it.
    pub(super) fn begin(&mut self, args: SendArgs, id: RequestId) -> RequestId {
        let peer = args.peer;
        fill(id, args);
        if !self.backlog[peer].is_empty() || !self.start(id) {
            self.enqueue(peer, Queued::Send(id));
        }
        id
    }

    /// Puts the first message of a send on the wire. False if there is no room.
    fn start(&mut self, id: RequestId) -> bool {
        // SAFETY: an active request of this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        let (peer, len) = (flight.peer, flight.buffer.len());
        let envelope = Envelope::new(flight.source, flight.tag);
        let header = |kind| Header { kind, aux: 0, context: flight.context, envelope };
        let (sent, completes) = if len > EAGER_LIMIT {
            let address = flight.buffer.contiguous().map_or(0, |a| a.expose_provenance() as u64);
            let rts = Rts { len: len as u64, address, request: id, pid: std::process::id() };
            flight.offered = self.send_words(peer, &header(wire::RTS), &rts.to_bytes());
            self.count_offer(i32::from(flight.offered));
            (flight.offered, false)
        } else if flight.synchronous {
            let extra = wire::to_bytes([u64::from(id), 0, 0]);
            let fill = |to: *mut u8| flight.buffer.read(0, to, len);
            (self.outbox.send_bulk(peer, &header(wire::SYNC), len, &extra, fill), false)
        } else if len <= INLINE_BYTES {
            let fill = |to: *mut u8| flight.buffer.read(0, to, len);
            (self.outbox.send_inline(peer, &header(wire::EAGER), len, fill), true)
        } else {
            let fill = |to: *mut u8| flight.buffer.read(0, to, len);
            (self.outbox.send_bulk(peer, &header(wire::EAGER), len, &[0; EXTRA_BYTES], fill), true)
        };
        if sent && completes {
            self.sender_done(id);
        }
        sent
    }

    fn send_words(&mut self, peer: usize, header: &Header, words: &[u8; EXTRA_BYTES]) -> bool {
        self.outbox.send_inline(peer, header, EXTRA_BYTES, |to| {
            // SAFETY: a slot's payload has room for the extra bytes.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr(), EXTRA_BYTES) };
        })
    }

    /// Sends a message of the protocol, or queues it.
    pub(super) fn send_control(&mut self, peer: usize, kind: u8, words: [u8; EXTRA_BYTES]) {
        let header = wire::control(kind);
        if !self.backlog[peer].is_empty() || !self.send_words(peer, &header, &words) {
            self.enqueue(peer, Queued::Control(header, words));
        }
    }

    /// Sends a piece of a streamed message. False if there is no room now.
    pub(super) fn send_piece(
        &mut self,
        peer: usize,
        extra: &[u8; EXTRA_BYTES],
        len: usize,
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        self.backlog[peer].is_empty()
            && self.outbox.send_bulk(peer, &wire::control(wire::DATA), len, extra, fill)
    }

    fn enqueue(&mut self, peer: usize, item: Queued) {
        self.backlog[peer].push_back(item);
        self.backlogged += 1;
    }

    /// Sends what waits for room, as far as there is room now.
    #[cold]
    pub(super) fn drain_backlog(&mut self) -> bool {
        let before = self.backlogged;
        for peer in 0..self.backlog.len() {
            while let Some(item) = self.backlog[peer].pop_front() {
                let sent = match &item {
                    Queued::Send(id) => self.start(*id),
                    Queued::Control(header, words) => self.send_words(peer, header, words),
                };
                if !sent {
                    self.backlog[peer].push_front(item);
                    break;
                }
                self.backlogged -= 1;
            }
        }
        self.backlogged != before
    }

    /// A send has done its work: its data is on the wire, fetched, or matched.
    pub(super) fn sender_done(&mut self, id: RequestId) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        flight.keep = None;
        if std::mem::take(&mut flight.offered) {
            self.count_offer(-1);
        }
        self.complete(id, Outcome::empty());
    }
}

/// Moves the arguments of a send into its request.
pub(super) fn fill(id: RequestId, args: SendArgs) {
    // SAFETY: the request was just taken and is not issued yet.
    let flight = unsafe { request::flight(id) };
    flight.buffer = args.buffer;
    flight.peer = args.peer;
    flight.context = args.context;
    flight.source = args.source;
    flight.tag = args.tag;
    flight.synchronous = args.synchronous;
    flight.stage = Stage::UnderWay;
    flight.keep = args.keep;
}
