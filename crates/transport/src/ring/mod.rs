//! The two ends of one ring: a single producer in one process, a single consumer in another.
//!
//! A ring has a **slot area** (a power of two of cells, two a slot) and a **bulk area** (bytes) for
//! payloads that do not fit into a slot. Both are used strictly in order, so the state of each side is two
//! counters that only grow:
//!
//! | counter | kept by | meaning |
//! |---|---|---|
//! | `head`, `bulk_head` | producer, private | next cell / byte to fill |
//! | `tail`, `bulk_tail` | consumer, private | next cell / byte to read |
//! | `Credits` | consumer writes, producer reads | how far the consumer has come, published lazily |
//!
//! The counters are 64 bits wide and do not wrap: at 10^9 cells a second that would take 580 years, and at 20
//! GB/s the bytes would take 29. Only the flag of a cell wraps, which has room for 31 bits of the lap
//! ([`RingMemory::lap`]).
//!
//! Invariants:
//! 1. head − credits.cells ≤ cells: a cell is filled only after its earlier message was consumed.
//! 2. bulk_head − credits.bulk ≤ bulk bytes, and no payload wraps: one that would cross
//!    the end starts at 0 again.
//! 3. Unpublished credits are fewer than a quarter of either area, and one payload takes at most a quarter of
//!    the bulk area ([`longest_payload`]); so a producer that waits for room always gets it once the consumer
//!    has drained the ring: at worst a quarter is unpublished, a quarter is skipped before the end, and a
//!    quarter is the payload.
//! 4. The consumer rings the producer's doorbell when it publishes credits: a producer that sleeps
//!    because it found no room wakes.

mod consumer;
#[cfg(all(test, not(loom)))]
mod garbage_tests;
#[cfg(all(test, not(loom)))]
pub(crate) mod tests;

use crate::failure::Peer;
use crate::slot::{CELL_BYTES, CELL_INLINE_BYTES, Cell, EXTRA_BYTES, Header, INLINE_BYTES, Kept};
use crate::stores::{StoreChoice, Stores};
use crate::throttle::Traffic;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::hint;

pub use consumer::{Consumer, Incoming, Offered};

/// The number of slots that the producer prefetches at once, and the distance of the first of them.
pub(crate) const AHEAD: u64 = 16;

/// The credits for one part in four of either area may be unpublished, and one payload may take one part in
/// four of the bulk area (invariant 3).
const SHARE: u64 = 4;

/// The longest payload for which a bulk area of this size has room once it is drained, in bytes.
pub(crate) const fn longest_payload(bulk_bytes: u64) -> u64 {
    bulk_bytes / SHARE
}

/// The consumer's progress. Nothing else shares its pair of cache lines.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Credits {
    pub(crate) cells: AtomicU64,
    pub(crate) bulk: AtomicU64,
}

/// Where one ring lies in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingMemory {
    pub(crate) credits: *const Credits,
    pub(crate) cells: *mut Cell,
    /// The greatest index of a cell.
    last_cell: u64,
    /// A number shifted by this has the lap of its cell in all bits but the lowest.
    lap_shift: u32,
    pub(crate) bulk: *mut u8,
    pub(crate) bulk_bytes: u64,
    /// The flag by which the receiver throttles its senders.
    throttle: *const AtomicU32,
}

impl RingMemory {
    /// A ring with these cells, a power of two of at least two, and this bulk area.
    pub(crate) fn new(
        credits: *const Credits,
        (cells, cell_count): (*mut Cell, u64),
        (bulk, bulk_bytes): (*mut u8, u64),
        throttle: *const AtomicU32,
    ) -> RingMemory {
        debug_assert!(cell_count >= 2 && cell_count.is_power_of_two());
        let (last_cell, lap_shift) = (cell_count - 1, cell_count.trailing_zeros() - 1);
        RingMemory { credits, cells, last_cell, lap_shift, bulk, bulk_bytes, throttle }
    }

    /// The number of cells.
    #[inline]
    pub(crate) fn cell_count(&self) -> u64 {
        self.last_cell + 1
    }

    /// Returns true if the receiver throttles its senders.
    #[inline]
    pub(crate) fn is_throttled(&self) -> bool {
        // SAFETY: the flag lies in the mapping of the ring. Relaxed: a hint.
        unsafe { &*self.throttle }.load(Ordering::Relaxed) != 0
    }

    #[inline(always)]
    pub(crate) fn cell(&self, number: u64) -> *mut Cell {
        // SAFETY: the index is at most `last_cell`, and `cells` spans one more.
        unsafe { self.cells.byte_add((number & self.last_cell) as usize * CELL_BYTES) }
    }

    /// Gets memory for the bulk area up to position `end` and somewhat further; the first `reserved` bytes
    /// have it already. Returns how many bytes have memory now.
    pub(crate) fn reserve_bulk(&self, reserved: u64, end: u64, peer: Peer) -> u64 {
        let until = end.max(reserved + RESERVED_AT_ONCE).min(self.bulk_bytes);
        peer.reserve(self.bulk.wrapping_add(reserved as usize), (until - reserved) as usize);
        until
    }

    /// The flag of cell number `number`. It is odd, so that it never equals the 0 of a cleared or untouched
    /// cell, even where the number of the lap no longer fits; and two laps in a row have different flags.
    #[inline(always)]
    pub(crate) fn lap(&self, number: u64) -> u32 {
        (number >> self.lap_shift) as u32 | 1
    }
}

/// How much of the bulk area gets memory at a time, in bytes, while the first payloads go through it.
const RESERVED_AT_ONCE: u64 = 128 << 10;

/// The sending end of a ring.
#[derive(Debug)]
pub struct Producer {
    ring: RingMemory,
    head: u64,
    /// No eager message may end behind this cell: `credit_limit`, or 0 while the
    /// receiver throttles its senders.
    head_limit: u64,
    /// No message may end behind this cell: the receiver is not done there.
    credit_limit: u64,
    bulk_head: u64,
    /// No payload may end behind this: the consumer still reads there, or there is no memory yet.
    bulk_limit: u64,
    /// How much of the bulk area has memory.
    reserved: u64,
    peer: Peer,
    stores: Box<StoreChoice>,
}

// SAFETY: the pointers lead into a shared mapping that outlives the producer (its `Fabric` is
// never unmapped while inboxes and outboxes exist); moving the single producer to another thread is fine as
// it has no thread-bound state.
unsafe impl Send for Producer {}

impl Producer {
    /// # Safety
    /// `ring` is a ring of a live mapping and this is its only producer.
    pub(crate) unsafe fn new(ring: RingMemory, peer: Peer) -> Producer {
        let (limit, reserved) = (ring.cell_count(), 0);
        Producer {
            ring,
            head: 0,
            head_limit: limit,
            credit_limit: limit,
            bulk_head: 0,
            bulk_limit: reserved,
            reserved,
            peer,
            stores: Box::default(),
        }
    }

    /// The longest payload that [`Producer::send_bulk`] takes, in bytes.
    #[inline]
    pub fn max_bulk(&self) -> usize {
        longest_payload(self.ring.bulk_bytes) as usize
    }

    /// Returns true if the cells up to number `end` may be filled.
    #[inline(always)]
    fn has_cells(&mut self, end: u64, traffic: Traffic) -> bool {
        match traffic {
            Traffic::Eager => end <= self.head_limit || self.refresh_cells(end, traffic),
            Traffic::Prompt => end <= self.head_limit,
            Traffic::Protocol => end <= self.credit_limit || self.refresh_cells(end, traffic),
        }
    }

    #[cold]
    fn refresh_cells(&mut self, end: u64, traffic: Traffic) -> bool {
        // SAFETY: the credits of a live ring. Acquire: pairs with the Release in `Consumer::publish`, so our
        // next stores into the cells come after the consumer's last loads from them.
        let consumed = unsafe { &(*self.ring.credits).cells }.load(Ordering::Acquire);
        self.credit_limit = consumed + self.ring.cell_count();
        self.head_limit = if self.ring.is_throttled() { 0 } else { self.credit_limit };
        match traffic {
            Traffic::Eager | Traffic::Prompt => end <= self.head_limit,
            Traffic::Protocol => end <= self.credit_limit,
        }
    }

    /// Returns true if the receiver throttled its senders when this producer last refreshed its credits. An
    /// eager message that was refused then was refused for that reason.
    #[inline]
    pub fn is_throttled(&self) -> bool {
        self.head_limit == 0
    }

    /// Sends a message of `len` ≤ [`INLINE_BYTES`] bytes; `fill` writes the payload. Returns false, having
    /// called nothing, when the ring is full or the receiver throttles its senders.
    #[inline(always)]
    pub fn send_inline(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        self.send_in_slot(Traffic::Eager, header, len, fill)
    }

    /// Does the same as [`send_inline`](Self::send_inline) without a load of new credits, and returns false
    /// where it would need one: once in a lap of the ring.
    #[inline(always)]
    pub fn send_promptly(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        self.send_in_slot(Traffic::Prompt, header, len, fill)
    }

    /// Does the same as [`send_inline`](Self::send_inline) for a message of a protocol, which a receiver that
    /// throttles its senders takes, too.
    #[inline]
    pub fn send_control<const BYTES: usize>(&mut self, header: &Header, words: &[u8; BYTES]) -> bool {
        const { assert!(BYTES <= INLINE_BYTES) }
        self.send_in_slot(Traffic::Protocol, header, BYTES, |to| {
            // SAFETY: a slot's payload has room for the words.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr(), BYTES) };
        })
    }

    #[inline(always)]
    fn send_in_slot(
        &mut self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let (cell, end) = if len <= CELL_INLINE_BYTES {
            let head = self.head;
            // With an even cell goes its odd neighbour, which is cleared.
            if !self.has_cells((head + 2) & !1, traffic) {
                return false;
            }
            self.fetch_ahead(head);
            if head & 1 == 0 {
                // SAFETY: the odd cell of the same slot; we are the only producer, and the consumer does not
                // read it before the even one's flag is set.
                unsafe { Cell::clear(self.ring.cell(head).wrapping_byte_add(CELL_BYTES)) };
            }
            (self.ring.cell(head), head + 1)
        } else {
            let Some(begin) = self.whole_slot(traffic) else { return false };
            (self.ring.cell(begin), begin + 2)
        };
        // SAFETY: the cell is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: the cell is free (invariant 1) and we are the only producer.
        fill(unsafe { Cell::payload(cell) });
        // SAFETY: the cell is free, we are the only producer, and every field is written. Both cells of
        // a slot have the same lap.
        unsafe { Cell::publish(cell, self.ring.lap(end - 1), header, Kept::Inline { len }) };
        self.head = end;
        true
    }

    /// Once in a while, takes the slots that come after `head` back from the consumer's core, all at once.
    /// One by one, as the stores come to them, each would cost a trip to the other core, because the few
    /// stores that the processor keeps waiting are not enough to reach the slot after next (19 or 74 ns a
    /// message, by the distance of the cores, against 13 or 15).
    #[inline(always)]
    fn fetch_ahead(&self, head: u64) {
        if head.is_multiple_of(2 * AHEAD) {
            for slot in AHEAD..2 * AHEAD {
                hint::prefetch_for_write(self.ring.cell(head + 2 * slot));
            }
        }
    }

    /// The first cell of the next whole slot, if there is room; a half slot before it is skipped.
    #[inline(always)]
    fn whole_slot(&mut self, traffic: Traffic) -> Option<u64> {
        let begin = (self.head + 1) & !1;
        if !self.has_cells(begin + 2, traffic) {
            return None;
        }
        self.skip_to(begin);
        Some(begin)
    }

    /// Skips the half slot before a free slot, if there is one.
    #[inline]
    fn skip_to(&mut self, begin: u64) {
        self.fetch_ahead(begin);
        if begin != self.head {
            // SAFETY: the cell is free (invariant 1) and we are the only producer.
            unsafe { Cell::publish_skip(self.ring.cell(self.head), self.ring.lap(self.head)) };
            self.head = begin;
        }
    }

    /// Sends a message whose payload of `len` ≤ [`Producer::max_bulk`] bytes goes to the bulk area. `fill`
    /// writes the payload, and learns how to store it; `extra` travels in the slot. Returns false, having
    /// called nothing, when there is no room or the receiver throttles its senders and `traffic` is not of a
    /// protocol.
    ///
    /// # Panics
    /// If the payload is longer than that.
    #[inline]
    pub fn send_bulk(
        &mut self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool {
        assert!(len <= self.max_bulk(), "{len} bytes are too many for the bulk area");
        let Some((position, offset)) = self.bulk_room(len as u64) else { return false };
        let Some(begin) = self.whole_slot(traffic) else { return false };
        // SAFETY: invariant 2: offset + len lies inside the bulk area, and the bytes are free.
        let to = unsafe { self.ring.bulk.add(offset as usize) };
        self.stores.copy(len, |stores| fill(to, stores));
        let cell = self.ring.cell(begin);
        // SAFETY: the slot is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: the slot is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_bulk_position(cell, len as u64, position) };
        // SAFETY: the slot is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_extra(cell, extra) };
        // SAFETY: the slot is free, we are the only producer, and every field is written.
        unsafe { Cell::publish(cell, self.ring.lap(begin), header, Kept::Bulk) };
        self.head = begin + 2;
        self.bulk_head = end_of(position, len as u64);
        true
    }

    /// The position where a payload of `len` bytes would go, if there is room now, and its offset in the bulk
    /// area.
    #[inline]
    fn bulk_room(&mut self, len: u64) -> Option<(u64, u64)> {
        let (mut position, mut offset) = (self.bulk_head, self.bulk_head % self.ring.bulk_bytes);
        if offset + len > self.ring.bulk_bytes {
            position += self.ring.bulk_bytes - offset;
            offset = 0;
        }
        let end = end_of(position, len);
        (end <= self.bulk_limit || self.refresh_bulk(end)).then_some((position, offset))
    }

    #[cold]
    fn refresh_bulk(&mut self, end: u64) -> bool {
        if self.reserved < self.ring.bulk_bytes && end > self.reserved {
            self.reserved = self.ring.reserve_bulk(self.reserved, end, self.peer);
        }
        // SAFETY: the credits of a live ring. Acquire: pairs with the Release in `Consumer::publish`.
        let consumed = unsafe { &(*self.ring.credits).bulk }.load(Ordering::Acquire);
        self.bulk_limit = consumed + self.ring.bulk_bytes;
        if self.reserved < self.ring.bulk_bytes {
            self.bulk_limit = self.bulk_limit.min(self.reserved);
        }
        if self.ring.is_throttled() {
            self.head_limit = 0;
        }
        end <= self.bulk_limit
    }
}

/// The end of a bulk payload, rounded up so that the next one starts on a cache line.
#[inline(always)]
fn end_of(position: u64, len: u64) -> u64 {
    (position + len + 63) & !63
}
