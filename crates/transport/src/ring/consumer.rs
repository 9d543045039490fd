//! The receiving end of a ring, which checks lengths and positions before it follows them.

use super::{RingMemory, SHARE, end_of, longest_payload};
use crate::failure::{Garbage, Peer};
use crate::slot::{CELL_INLINE_BYTES, Cell, EXTRA_BYTES, Flag, Header, INLINE_BYTES};
use heddle_platform::atomic::Ordering;
use heddle_sync::{Doorbell, Scope};

/// A message that lies in the ring, to be read inside of [`Consumer::take`] or [`Consumer::offer`].
#[derive(Debug, Clone, Copy)]
pub struct Incoming {
    /// Its envelope.
    pub header: Header,
    payload: *const u8,
    len: usize,
    extra: *const u8,
}

impl Incoming {
    /// A message that lies elsewhere than in a ring. Without bytes beside a bulk payload, `extra` is the
    /// payload.
    ///
    /// # Safety
    /// The payload stays untouched as long as the message is read, and so do 24 bytes at `extra`.
    #[cfg(not(loom))]
    pub(crate) unsafe fn new(
        header: Header,
        (payload, len): (*const u8, usize),
        extra: *const u8,
    ) -> Incoming {
        Incoming { header, payload, len, extra }
    }

    /// The payload's length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the message has no payload.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The payload.
    #[inline(always)]
    pub fn payload(&self) -> &[u8] {
        // SAFETY: the bytes lie in the ring and stay untouched until their credit is returned; `offer` does
        // that after its reader has run, and the reader gets the message by reference. Those of a message
        // from the network stay untouched as long by the promise to `new`.
        unsafe { std::slice::from_raw_parts(self.payload, self.len) }
    }

    /// Returns true if it has a bulk payload, and so [`extra`](Self::extra) bytes beside it.
    #[inline]
    pub fn has_extra(&self) -> bool {
        !std::ptr::eq(self.payload, self.extra)
    }

    /// The bytes that travelled beside a bulk payload; meaningless for an inline one.
    #[inline(always)]
    pub fn extra(&self) -> [u8; EXTRA_BYTES] {
        // SAFETY: the slot's payload area has at least 24 bytes behind this address.
        unsafe { self.extra.cast::<[u8; EXTRA_BYTES]>().read_unaligned() }
    }
}

/// The result of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// There is none.
    Nothing,
    /// The reader refused it, so it stays in the ring.
    Refused,
    /// The reader took it, so its slot is free.
    Taken,
}

/// The receiving end of a ring.
#[derive(Debug)]
pub struct Consumer {
    ring: RingMemory,
    tail: u64,
    published_tail: u64,
    bulk_tail: u64,
    published_bulk: u64,
    publish_every: u64,
    /// The producer's doorbell.
    doorbell: *const Doorbell,
    pub(crate) peer: Peer,
}

// SAFETY: the pointers lead into a shared mapping that outlives the consumer; the consumer
// has no thread-bound state.
unsafe impl Send for Consumer {}

impl Consumer {
    /// # Safety
    /// `ring` is a ring of a live mapping and this is its only consumer; `doorbell` outlives it.
    pub(crate) unsafe fn new(ring: RingMemory, doorbell: *const Doorbell, peer: Peer) -> Consumer {
        let publish_every = (ring.cell_count() / SHARE).min(128);
        Consumer {
            ring,
            tail: 0,
            published_tail: 0,
            bulk_tail: 0,
            published_bulk: 0,
            publish_every,
            doorbell,
            peer,
        }
    }

    /// Returns true if there is no message, nor the rest of a slot to pass over.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        let cell = self.ring.cell(self.tail);
        // SAFETY: a cell of a live ring; we are its only consumer.
        unsafe { Cell::flag(cell, self.ring.lap(self.tail)) }.is_none()
    }

    /// Gives the next message to `read`, if there is one, and then frees its slot.
    #[inline(always)]
    pub fn take(&mut self, read: impl FnOnce(&Incoming)) -> bool {
        let offered = self.offer(
            #[inline(always)]
            |message| {
                read(message);
                true
            },
        );
        offered == Offered::Taken
    }

    /// Shows the next message to `read`, if there is one, and frees its slot if `read` returns
    /// that it took the message.
    #[inline(always)]
    pub fn offer(&mut self, read: impl FnOnce(&Incoming) -> bool) -> Offered {
        let (cell, flag) = loop {
            let cell = self.ring.cell(self.tail);
            // SAFETY: a cell of a live ring; we are its only consumer.
            let Some(flag) = (unsafe { Cell::flag(cell, self.ring.lap(self.tail)) }) else {
                return Offered::Nothing;
            };
            if flag.len() <= INLINE_BYTES {
                break (cell, flag);
            }
            if !flag.is_skip() {
                return self.offer_bulk(cell, flag, read);
            }
            self.skip();
        };
        let len = flag.len();
        let cells = if len <= CELL_INLINE_BYTES { 1 } else { self.whole_slot() };
        // SAFETY: a cell of a live ring whose flag says that the message is there; we are its only consumer.
        let header = unsafe { Cell::header(cell, flag) };
        // SAFETY: a cell of a live ring.
        let payload = unsafe { Cell::payload(cell) };
        if !read(&Incoming { header, payload, len, extra: payload }) {
            return Offered::Refused;
        }
        self.taken(cells)
    }

    /// Does the same as [`offer`](Self::offer), for a message whose payload is not inside its slot.
    #[inline]
    fn offer_bulk(&mut self, cell: *mut Cell, flag: Flag, read: impl FnOnce(&Incoming) -> bool) -> Offered {
        if !flag.is_bulk() {
            self.peer.refuse(Garbage::SlotLength(flag.len() as u8));
        }
        let cells = self.whole_slot();
        // SAFETY: a cell of a live ring whose flag says that a message is there; we are its only consumer.
        let (len, position) = unsafe { Cell::bulk_position(cell) };
        let offset = self.checked_offset(len, position);
        // SAFETY: a cell of a live ring whose flag says that a message is there; we are its only consumer.
        let header = unsafe { Cell::header(cell, flag) };
        // SAFETY: `checked_offset` checked that the payload lies inside the bulk area.
        let payload = unsafe { self.ring.bulk.add(offset) };
        // SAFETY: a cell of a live ring.
        let inline = unsafe { Cell::payload(cell) };
        // SAFETY: the extra bytes lie behind the 16 of length and position, inside the slot.
        let extra = unsafe { inline.add(INLINE_BYTES - EXTRA_BYTES) };
        if !read(&Incoming { header, payload, len: len as usize, extra }) {
            return Offered::Refused;
        }
        self.bulk_tail = end_of(position, len);
        self.taken(cells)
    }

    /// Frees the cells of the message that was read.
    #[inline(always)]
    fn taken(&mut self, cells: u64) -> Offered {
        self.tail += cells;
        if self.tail - self.published_tail >= self.publish_every
            || self.bulk_tail - self.published_bulk >= self.ring.bulk_bytes / SHARE
        {
            self.publish();
        }
        Offered::Taken
    }

    /// The number of cells of a message that takes a whole slot. Such a message begins at the even cell.
    #[inline(always)]
    fn whole_slot(&self) -> u64 {
        if self.tail & 1 == 1 {
            self.peer.refuse(Garbage::Misplaced);
        }
        2
    }

    /// Skips the odd cell of a slot, which has no message.
    #[inline]
    fn skip(&mut self) {
        if self.tail & 1 == 0 {
            self.peer.refuse(Garbage::Misplaced);
        }
        self.tail += 1;
    }

    /// The offset of a payload in the bulk area. Refuses one that the sender could not have put there: it is
    /// too long, lies outside of the part that the sender may fill, or wraps.
    #[inline]
    fn checked_offset(&self, len: u64, position: u64) -> usize {
        let (size, longest) = (self.ring.bulk_bytes, longest_payload(self.ring.bulk_bytes));
        if len > longest {
            self.peer.refuse(Garbage::PayloadLength { len, longest });
        }
        let (ahead, offset) = (position.wrapping_sub(self.bulk_tail), position % size);
        // Both ends are whole lines; the rest of the last one belongs to the payload.
        if ahead > size || ahead + len > size || offset + len > size || !position.is_multiple_of(64) {
            self.peer.refuse(Garbage::PayloadPosition { position, reader: self.bulk_tail });
        }
        offset as usize
    }

    fn publish(&mut self) {
        self.published_tail = self.tail;
        self.published_bulk = self.bulk_tail;
        // SAFETY: the credits of a live ring.
        let credits = unsafe { &*self.ring.credits };
        // Release: pairs with the Acquire in `Producer::refresh_cells` and `refresh_bulk`.
        credits.cells.store(self.tail, Ordering::Release);
        credits.bulk.store(self.bulk_tail, Ordering::Release);
        // SAFETY: the doorbell outlives the consumer.
        unsafe { &*self.doorbell }.ring(Scope::Machine);
    }
}

#[cfg(all(test, not(loom)))]
impl Consumer {
    /// The number of the cell that is read next.
    pub(crate) fn next(&self) -> u64 {
        self.tail
    }

    /// Continues as if all cells and bytes before these numbers had been taken.
    pub(crate) fn start_at(&mut self, cells: u64, bulk: u64) {
        (self.tail, self.published_tail) = (cells, cells);
        (self.bulk_tail, self.published_bulk) = (bulk, bulk);
    }
}
