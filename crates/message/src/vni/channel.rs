//! The channel to one peer: its ring, and the queue of messages that wait for room in the ring.

use super::message::SendArgs;
use super::ring_access::Rules;
use super::wire;
use crate::buffer::{Buffer, copy_small};
use crate::request::RequestId;
use heddle_model::counters::Section;
use heddle_model::{GuardedObject, Path, Whole};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_transport::{EXTRA_BYTES, Header, INLINE_BYTES, Outbox, RingAccess, Traffic};
use std::collections::VecDeque;

/// The sending side of one peer.
#[derive(Debug)]
pub(crate) struct Peer<S: Rules> {
    pub channel: S::Channel<Channel<S::Inside>>,
    /// The ring, if it is not in the channel's critical section.
    pub outside: S::Outside,
    /// The number of queued messages; written in the channel's critical section.
    pub backlogged: AtomicUsize,
}

impl Peer<Whole> {
    /// Sends by `send` in the channel's critical section alone, unless it is known that messages are queued:
    /// then the channel is left to the threads that drain it.
    #[inline(always)]
    pub(super) fn send_apart(&self, send: impl FnOnce(&mut Channel<Outbox>) -> bool) -> bool {
        // Relaxed: a hint. A thread that has queued a message sees it, and so does one that was told of that;
        // `send` looks into the backlog.
        self.backlogged.load(Ordering::Relaxed) == 0 && self.channel.section().with_lock(Path::Main, send)
    }
}

/// A message that waits for room in a ring.
#[derive(Debug)]
pub(crate) enum Queued {
    /// A send that has not begun.
    Send(RequestId),
    /// A message of the protocol.
    Control(Header, [u8; EXTRA_BYTES]),
}

/// The queue of messages that wait for room, first in, first out, and the ring unless it is
/// outside (`ring_access.rs`).
#[derive(Debug)]
pub(crate) struct Channel<R> {
    pub ring: R,
    pub backlog: VecDeque<Queued>,
}

impl<R: Send + 'static> GuardedObject for Channel<R> {
    const SECTION: Section = Section::Channel;
    const LEVEL: u32 = 3;
}

impl<R> Channel<R> {
    pub(crate) fn new(ring: R) -> Channel<R> {
        Channel { ring, backlog: VecDeque::new() }
    }
}

/// Sends the data now, if it is small and there is room.
#[inline(always)]
pub(super) fn send_eager(ring: impl RingAccess, header: &Header, buffer: Buffer) -> bool {
    let len = buffer.len();
    if len <= INLINE_BYTES {
        ring.send_inline(
            header,
            len,
            #[inline(always)]
            |to| buffer.read(0, to, len),
        )
    } else {
        ring.send_bulk(Traffic::Eager, header, len, &[0; EXTRA_BYTES], |to| buffer.read(0, to, len))
    }
}

impl Channel<Outbox> {
    /// Sends `len` bytes from `from`, at most [`INLINE_BYTES`], within a slot, unless
    /// messages are queued or there is no room at the first look.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads.
    #[inline(always)]
    pub(super) unsafe fn send_express(&mut self, header: &Header, from: *const u8, len: usize) -> bool {
        self.backlog.is_empty()
            && self.ring.send_promptly(
                header,
                len,
                #[inline(always)]
                // SAFETY: the caller promises the source; a slot has room for `INLINE_BYTES`.
                |to| unsafe { copy_small(from, to, len) },
            )
    }

    /// Sends the buffer within a slot, unless messages are queued or there is no room.
    #[inline(always)]
    pub(super) fn send_at_once(&mut self, header: &Header, buffer: Buffer) -> bool {
        let len = buffer.len();
        self.backlog.is_empty()
            && self.ring.send_inline(
                header,
                len,
                #[inline(always)]
                |to| buffer.read(0, to, len),
            )
    }

    /// Sends an eager message, unless messages are queued or there is no room.
    #[inline(always)]
    pub(super) fn send_eager(&mut self, args: &SendArgs) -> bool {
        self.backlog.is_empty() && send_eager(&mut self.ring, &args.header(wire::EAGER), args.buffer)
    }
}
