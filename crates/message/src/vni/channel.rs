//! The channel to one peer: its ring, and the queue of messages that wait for room in the ring.

use super::backlog::Backlog;
use super::message::SendArgs;
use super::ring_access::Rules;
use super::wire;
use crate::buffer::{Buffer, copy_small};
use crate::spread::{
    BY, BY_SOURCE, CLOSED, MARKS, SPREAD, STAMPS, SpreadBy, SpreadOut, TagChanges, WISHED, may_be_spread,
    stamp,
};
use heddle_model::counters::Section;
use heddle_model::{GuardedObject, Path, Whole};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_transport::{EXTRA_BYTES, Header, INLINE_BYTES, Outbox, RingAccess, Traffic};
use once_cell::race::OnceBox;

/// The sending side of one peer. A power of two of bytes: the quick ways compute its address.
#[derive(Debug)]
#[repr(align(256))]
pub(crate) struct Peer<S: Rules> {
    pub channel: S::Channel<Channel<S::Inside>>,
    /// The ring, if it is not in the channel's critical section.
    pub outside: S::Outside,
    /// The number of queued messages, and what is special of the channel (`spread`); written in the channel's
    /// critical section.
    pub backlogged: AtomicUsize,
    /// The state of spread messages to the peer, once a thread spreads some.
    pub outgoing: OnceBox<SpreadOut>,
    /// How often the tags of messages change that threads send by the channel's lock.
    pub tag_changes: TagChanges,
}

impl<S: Rules> Peer<S> {
    /// The number of queued messages.
    pub(crate) fn queued(&self) -> usize {
        // Relaxed: a hint. Whoever needs the number is in the channel's critical section.
        self.backlogged.load(Ordering::Relaxed) & !MARKS
    }

    /// Returns true if messages that may be spread do not go to the home now.
    #[inline(always)]
    pub(crate) fn is_spread(&self) -> bool {
        self.has(SPREAD | CLOSED)
    }

    /// By what messages are spread that are.
    #[inline(always)]
    pub(crate) fn spread_by(&self) -> SpreadBy {
        SpreadBy::of_bit((self.backlogged.load(Ordering::Relaxed) >> BY) as u64)
    }

    /// Returns true if messages go to lanes in this way now.
    #[inline(always)]
    pub(crate) fn spreads_by(&self, by: SpreadBy) -> bool {
        let marks = self.backlogged.load(Ordering::Relaxed) & (SPREAD | BY_SOURCE);
        marks == SPREAD | (by.bit() as usize) << BY
    }

    /// Returns true if a message with this context goes to a lane, or waits for one, rather than to the
    /// channel.
    #[inline(always)]
    pub(crate) fn sends_away(&self, context: u64) -> bool {
        self.is_spread() && may_be_spread(context)
    }

    /// Returns true if messages shall be spread from the first one on, and are not yet.
    #[inline]
    pub(crate) fn wishes_to_spread(&self) -> bool {
        self.has(WISHED)
    }

    /// Returns true if messages of this channel that may be spread are stamped.
    #[inline]
    pub(crate) fn stamps(&self) -> bool {
        self.has(STAMPS)
    }

    /// Returns true if the channel has one of these marks.
    #[inline(always)]
    pub(crate) fn has(&self, marks: usize) -> bool {
        // Relaxed: a hint, or read in a critical section of a lane's channel, through which the thread that
        // changes the marks goes afterwards.
        self.backlogged.load(Ordering::Relaxed) & marks != 0
    }
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

/// The queue of messages that wait for room, first in, first out, and the ring unless it is
/// outside (`ring_access.rs`).
#[derive(Debug)]
pub(crate) struct Channel<R> {
    pub ring: R,
    pub backlog: Backlog,
}

impl<R: Send + 'static> GuardedObject for Channel<R> {
    const SECTION: Section = Section::Channel;
    const LEVEL: u32 = 3;
}

impl<R> Channel<R> {
    pub(crate) fn new(ring: R) -> Channel<R> {
        Channel { ring, backlog: Backlog::default() }
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
        ring.send_bulk(Traffic::Eager, header, len, &[0; EXTRA_BYTES], |to, stores| {
            buffer.read_as(0, (to, stores), len)
        })
    }
}

/// Does the same as [`send_eager`], with the message's stamp before its data, or beside them.
#[inline]
pub(super) fn send_stamped(ring: impl RingAccess, header: &Header, buffer: Buffer, stamp: u64) -> bool {
    let len = buffer.len();
    if len + wire::STAMP_BYTES > INLINE_BYTES {
        let extra = wire::to_bytes([stamp, 0, 0]);
        return ring.send_bulk(Traffic::Eager, header, len, &extra, |to, stores| {
            buffer.read_as(0, (to, stores), len)
        });
    }
    ring.send_inline(header, wire::STAMP_BYTES + len, |to| {
        // SAFETY: a slot has room for `INLINE_BYTES`, which stamp and data are at most.
        unsafe { to.cast::<u64>().write_unaligned(stamp) };
        // SAFETY: the same.
        buffer.read(0, unsafe { to.add(wire::STAMP_BYTES) }, len);
    })
}

impl Channel<Outbox> {
    /// Sends an eager message with its stamp, unless messages are queued or there is no room.
    pub(crate) fn send_stamped(&mut self, args: &SendArgs) -> bool {
        self.backlog.is_empty()
            && send_stamped(&mut self.ring, &args.header(wire::STAMPED_EAGER), args.buffer, stamp::now())
    }

    /// Sends `len` bytes from `from`, at most [`INLINE_BYTES`], within a slot, unless
    /// messages are queued or there is no room at the first look.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads.
    #[inline(always)]
    pub(super) unsafe fn send_express(&mut self, header: &Header, from: *const u8, len: usize) -> bool {
        self.backlog.is_open()
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
        self.backlog.is_open()
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
        self.backlog.is_open() && send_eager(&mut self.ring, &args.header(wire::EAGER), args.buffer)
    }
}

// With two more words in the channel a small send would take eight instructions more.
const _: () = assert!(size_of::<Peer<Whole>>() <= 512 && size_of::<Peer<Whole>>().is_power_of_two());
