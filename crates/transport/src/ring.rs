//! The two ends of one ring: a single producer in one process, a single consumer in another.
//!
//! A ring has a **slot area** (a power of two of cells, two a slot) and a **bulk area** (bytes) for payloads that do
//! not fit into a slot. Both are used strictly in order, so the state of each side is two counters that only grow:
//!
//! | counter | kept by | meaning |
//! |---|---|---|
//! | `head`, `bulk_head` | producer, private | next cell / byte to fill |
//! | `tail`, `bulk_tail` | consumer, private | next cell / byte to read |
//! | `Credits` | consumer writes, producer reads | how far the consumer has come, published lazily |
//!
//! The counters are 64 bits wide and do not wrap: at 10^9 cells a second that would take 580 years, and at 20 GB/s the
//! bytes would take 29. What does wrap is the flag of a cell, which has room for 31 bits of the lap ([`RingMemory::lap`]).
//!
//! Invariants:
//! 1. head − credits.cells ≤ cells: a cell is filled only after its earlier message was consumed.
//! 2. bulk_head − credits.bulk ≤ bulk bytes, and no payload wraps: one that would cross the end starts at 0 again.
//! 3. Unpublished credits are fewer than a quarter of either area, and one payload takes at most a quarter of the
//!    bulk area ([`longest_payload`]); so a producer that waits for room always gets it once the consumer has drained
//!    the ring: at worst a quarter is unpublished, a quarter is skipped before the end, and a quarter is the payload.
//! 4. Whoever publishes credits rings the producer's bell: a producer that sleeps for want of room is woken.

use crate::failure::{Garbage, Peer};
use crate::slot::{CELL_BYTES, CELL_INLINE_BYTES, Cell, EXTRA_BYTES, Flag, Header, INLINE_BYTES, Kept};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::hint;
use heddle_sync::{Bell, Scope};

/// How many slots the producer asks for at once, and how many ahead.
pub(crate) const AHEAD: u64 = 16;

/// One part of so many of either area may be unpublished, and one payload may take as much of the bulk area (invariant 3).
const SHARE: u64 = 4;

/// The longest payload for which a bulk area of this size always has room at some time, in bytes.
pub(crate) const fn longest_payload(bulk_bytes: u64) -> u64 {
    bulk_bytes / SHARE
}

/// The consumer's progress, in a cache-line pair of its own.
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
    pub(crate) cell_count: u64,
    pub(crate) bulk: *mut u8,
    pub(crate) bulk_bytes: u64,
}

impl RingMemory {
    #[inline(always)]
    pub(crate) fn cell(&self, number: u64) -> *mut Cell {
        // SAFETY: the index is below cell_count, a power of two, and `cells` spans that many.
        unsafe { self.cells.byte_add((number & (self.cell_count - 1)) as usize * CELL_BYTES) }
    }

    /// Gets memory for the bulk area up to position `end` and somewhat further; `reserved` bytes have some. Returns how many
    /// have now.
    pub(crate) fn reserve_bulk(&self, reserved: u64, end: u64, peer: Peer) -> u64 {
        let until = end.max(reserved + RESERVED_AT_ONCE).min(self.bulk_bytes);
        peer.reserve(self.bulk.wrapping_add(reserved as usize), (until - reserved) as usize);
        until
    }

    /// The flag of cell number `number`. It is odd, so that it never equals the 0 of a cleared or untouched cell, even
    /// where the number of the lap no longer fits; and two laps in a row have different flags.
    #[inline(always)]
    pub(crate) fn lap(&self, number: u64) -> u32 {
        ((number >> self.cell_count.trailing_zeros()) as u32) << 1 | 1
    }
}

/// How much of the bulk area gets memory at a time, in bytes, while the first payloads go through it.
const RESERVED_AT_ONCE: u64 = 128 << 10;

/// The sending end of a ring.
#[derive(Debug)]
pub struct Producer {
    ring: RingMemory,
    head: u64,
    head_limit: u64,
    bulk_head: u64,
    /// No payload may end behind this: the consumer is not done there, or there is no memory yet.
    bulk_limit: u64,
    /// How much of the bulk area has memory.
    reserved: u64,
    peer: Peer,
}

// SAFETY: the pointers lead into a shared mapping that outlives the producer (its `Fabric` is never unmapped while
// mailboxes exist); moving the single producer to another thread is fine as it has no thread-bound state.
unsafe impl Send for Producer {}

impl Producer {
    /// # Safety
    /// `ring` is a ring of a live mapping and this is its only producer.
    pub(crate) unsafe fn new(ring: RingMemory, peer: Peer) -> Producer {
        let (head_limit, reserved) = (ring.cell_count, 0);
        Producer { ring, head: 0, head_limit, bulk_head: 0, bulk_limit: reserved, reserved, peer }
    }

    /// The longest payload that [`Producer::send_bulk`] takes, in bytes.
    #[inline]
    pub fn max_bulk(&self) -> usize {
        longest_payload(self.ring.bulk_bytes) as usize
    }

    /// Whether the cells up to number `end` may be filled.
    #[inline(always)]
    fn has_cells(&mut self, end: u64) -> bool {
        end <= self.head_limit || self.refresh_cells(end)
    }

    #[cold]
    fn refresh_cells(&mut self, end: u64) -> bool {
        // SAFETY: the credits of a live ring. Acquire: pairs with the Release in `Consumer::publish`, so our next
        // stores into the cells come after the consumer's last loads from them.
        let consumed = unsafe { &(*self.ring.credits).cells }.load(Ordering::Acquire);
        self.head_limit = consumed + self.ring.cell_count;
        end <= self.head_limit
    }

    /// Sends a message of `len` ≤ [`INLINE_BYTES`] bytes; `fill` writes the payload. Returns false, having called
    /// nothing, when the ring is full.
    #[inline(always)]
    pub fn send_inline(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let (cell, end) = if len <= CELL_INLINE_BYTES {
            let head = self.head;
            // With an even cell goes its odd neighbour, which is cleared.
            if !self.has_cells((head + 2) & !1) {
                return false;
            }
            self.fetch_ahead(head);
            if head & 1 == 0 {
                // SAFETY: the odd cell of the same slot; we are the only producer and the consumer does not look at
                // it before the even one's flag is set.
                unsafe { Cell::clear(self.ring.cell(head + 1)) };
            }
            (self.ring.cell(head), head + 1)
        } else {
            let Some(begin) = self.whole_slot() else { return false };
            (self.ring.cell(begin), begin + 2)
        };
        // SAFETY: the cell is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: as above.
        fill(unsafe { Cell::payload(cell) });
        // SAFETY: as above, and every field is written. Both cells of a slot have the same lap.
        unsafe { Cell::publish(cell, self.ring.lap(end - 1), header, Kept::Inline { len }) };
        self.head = end;
        true
    }

    /// Once in a while, takes the slots that come after `head` back from the consumer's core, all at once. One by one, as
    /// the stores come to them, each would cost a trip to the other core, because the few stores that the processor
    /// keeps waiting are not enough to reach the slot after next (19 or 74 ns a message, by the distance of the cores,
    /// against 13 or 15).
    #[inline(always)]
    fn fetch_ahead(&self, head: u64) {
        if head.is_multiple_of(2 * AHEAD) {
            for slot in AHEAD..2 * AHEAD {
                hint::prefetch_for_write(self.ring.cell(head + 2 * slot));
            }
        }
    }

    /// The first cell of the next whole slot, if there is room; a half slot before it is skipped.
    #[inline]
    fn whole_slot(&mut self) -> Option<u64> {
        let begin = (self.head + 1) & !1;
        if !self.has_cells(begin + 2) {
            return None;
        }
        self.fetch_ahead(begin);
        if begin != self.head {
            // SAFETY: the cell is free (invariant 1) and we are the only producer.
            unsafe { Cell::publish_skip(self.ring.cell(self.head), self.ring.lap(self.head)) };
            self.head = begin;
        }
        Some(begin)
    }

    /// Sends a message whose payload of `len` ≤ [`Producer::max_bulk`] bytes goes to the bulk area. `fill` writes
    /// the payload; `extra` travels in the slot. Returns false, having called nothing, when there is no room.
    ///
    /// # Panics
    /// If the payload is longer than that.
    #[inline]
    pub fn send_bulk(
        &mut self,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        assert!(len <= self.max_bulk(), "{len} bytes are too many for the bulk area");
        let Some(position) = self.bulk_room(len as u64) else { return false };
        let Some(begin) = self.whole_slot() else { return false };
        let offset = (position % self.ring.bulk_bytes) as usize;
        // SAFETY: invariant 2: offset + len lies inside the bulk area, and the bytes are free.
        fill(unsafe { self.ring.bulk.add(offset) });
        let cell = self.ring.cell(begin);
        // SAFETY: the slot is free (invariant 1) and we are the only producer.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: as above.
        unsafe { Cell::write_bulk_place(cell, len as u64, position) };
        // SAFETY: as above.
        unsafe { Cell::write_extra(cell, extra) };
        // SAFETY: every field is written.
        unsafe { Cell::publish(cell, self.ring.lap(begin), header, Kept::Bulk) };
        self.head = begin + 2;
        self.bulk_head = end_of(position, len as u64);
        true
    }

    /// Where a payload of `len` bytes would go, if there is room now.
    #[inline]
    fn bulk_room(&mut self, len: u64) -> Option<u64> {
        let offset = self.bulk_head % self.ring.bulk_bytes;
        let skip = if offset + len > self.ring.bulk_bytes { self.ring.bulk_bytes - offset } else { 0 };
        let position = self.bulk_head + skip;
        let end = end_of(position, len);
        (end <= self.bulk_limit || self.refresh_bulk(end)).then_some(position)
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
        end <= self.bulk_limit
    }
}

/// The end of a bulk payload, rounded up so that the next one starts on a cache line.
#[inline(always)]
fn end_of(position: u64, len: u64) -> u64 {
    (position + len + 63) & !63
}

/// A message that lies in the ring, to be read inside of [`Consumer::take`] or [`Consumer::offer`].
#[derive(Debug)]
pub struct Incoming {
    /// Its envelope.
    pub header: Header,
    payload: *const u8,
    len: usize,
    extra: *const u8,
}

impl Incoming {
    /// The payload's length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the message has no payload.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The payload.
    #[inline(always)]
    pub fn payload(&self) -> &[u8] {
        // SAFETY: the bytes lie in the ring and stay untouched until their credit is returned; `offer` does that after
        // its reader has run, and the reader gets the message by reference.
        unsafe { std::slice::from_raw_parts(self.payload, self.len) }
    }

    /// Whether it has a bulk payload, and so [`extra`](Self::extra) bytes beside it.
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

/// What became of the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// There is none.
    Nothing,
    /// It was not wanted, and stays.
    Refused,
    /// It was wanted, and is gone.
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
    /// The producer's.
    bell: *const Bell,
    pub(crate) peer: Peer,
}

// SAFETY: as for `Producer`.
unsafe impl Send for Consumer {}

impl Consumer {
    /// # Safety
    /// `ring` is a ring of a live mapping and this is its only consumer; `bell` outlives it.
    pub(crate) unsafe fn new(ring: RingMemory, bell: *const Bell, peer: Peer) -> Consumer {
        let publish_every = (ring.cell_count / SHARE).min(128);
        Consumer {
            ring,
            tail: 0,
            published_tail: 0,
            bulk_tail: 0,
            published_bulk: 0,
            publish_every,
            bell,
            peer,
        }
    }

    /// Gives the next message to `read`, if there is one, and then frees its place.
    #[inline(always)]
    pub fn take(&mut self, read: impl FnOnce(&Incoming)) -> bool {
        let offered = self.offer(
            #[inline(always)]
            |message| {
                read(message);
                true
            },
        );
        offered == Offer::Taken
    }

    /// Shows the next message to `read`, if there is one, and frees its place if `read` says that it has taken it.
    #[inline(always)]
    pub fn offer(&mut self, read: impl FnOnce(&Incoming) -> bool) -> Offer {
        let (cell, flag) = loop {
            let cell = self.ring.cell(self.tail);
            // SAFETY: a cell of a live ring; we are its only consumer.
            let Some(flag) = (unsafe { Cell::flag(cell, self.ring.lap(self.tail)) }) else {
                return Offer::Nothing;
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
        // SAFETY: as above, and the flag says that the message is there.
        let header = unsafe { Cell::header(cell, flag) };
        // SAFETY: as above.
        let payload = unsafe { Cell::payload(cell) };
        if !read(&Incoming { header, payload, len, extra: payload }) {
            return Offer::Refused;
        }
        self.taken(cells)
    }

    /// As [`offer`](Self::offer), of a message that is not inside its slot.
    #[inline]
    fn offer_bulk(&mut self, cell: *mut Cell, flag: Flag, read: impl FnOnce(&Incoming) -> bool) -> Offer {
        if !flag.is_bulk() {
            self.peer.refuse(Garbage::SlotLength(flag.len() as u8));
        }
        let cells = self.whole_slot();
        // SAFETY: a cell of a live ring whose flag says that a message is there; we are its only consumer.
        let (len, position) = unsafe { Cell::bulk_place(cell) };
        let offset = self.checked_offset(len, position);
        // SAFETY: as above.
        let header = unsafe { Cell::header(cell, flag) };
        // SAFETY: it was checked that the payload lies inside the bulk area.
        let payload = unsafe { self.ring.bulk.add(offset) };
        // SAFETY: as above.
        let inline = unsafe { Cell::payload(cell) };
        // SAFETY: the extra bytes lie behind the 16 of the place, inside the slot.
        let extra = unsafe { inline.add(INLINE_BYTES - EXTRA_BYTES) };
        if !read(&Incoming { header, payload, len: len as usize, extra }) {
            return Offer::Refused;
        }
        self.bulk_tail = end_of(position, len);
        self.taken(cells)
    }

    /// Frees the place of the message that was read.
    #[inline(always)]
    fn taken(&mut self, cells: u64) -> Offer {
        self.tail += cells;
        if self.tail - self.published_tail >= self.publish_every
            || self.bulk_tail - self.published_bulk >= self.ring.bulk_bytes / SHARE
        {
            self.publish();
        }
        Offer::Taken
    }

    /// The cells of a message that takes a whole slot, which begins at its even cell.
    #[inline(always)]
    fn whole_slot(&self) -> u64 {
        if self.tail & 1 == 1 {
            self.peer.refuse(Garbage::Misplaced);
        }
        2
    }

    /// Passes over the rest of a slot, which holds no message.
    #[inline]
    fn skip(&mut self) {
        if self.tail & 1 == 0 {
            self.peer.refuse(Garbage::Misplaced);
        }
        self.tail += 1;
    }

    /// Where a payload in the bulk area begins, as far as the sender could have put it there: it is no longer than any that is
    /// sent, lies within what the sender may fill, and does not wrap.
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
        // Release: pairs with the Acquire in `Producer::refresh_cells` and `bulk_room`.
        credits.cells.store(self.tail, Ordering::Release);
        credits.bulk.store(self.bulk_tail, Ordering::Release);
        // SAFETY: the bell outlives the consumer.
        unsafe { &*self.bell }.ring(Scope::Machine);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::geometry::{Geometry, LONGEST_PAYLOAD};
    use crate::slot::Envelope;

    /// A peer that ends the test by its failure.
    pub(crate) const SOMEBODY: Peer = Peer { rank: 3, fail: |failure| panic!("{failure}") };

    /// A ring in private memory.
    pub(crate) fn ring(slots: u64, bulk_bytes: u64) -> RingMemory {
        let credits = Credits { cells: AtomicU64::new(0), bulk: AtomicU64::new(0) };
        let credits: &'static Credits = Box::leak(Box::new(credits));
        let lines = vec![[0u64; 8]; slots as usize];
        let cells = Box::leak(lines.into_boxed_slice()).as_mut_ptr().cast();
        let bulk = Box::leak(vec![0u8; bulk_bytes as usize].into_boxed_slice()).as_mut_ptr();
        RingMemory { credits, cells, cell_count: slots * 2, bulk, bulk_bytes }
    }

    pub(crate) fn ends(ring: RingMemory) -> (Producer, Consumer) {
        // SAFETY: a private ring, of which this is the one producer.
        let producer = unsafe { Producer::new(ring, SOMEBODY) };
        // SAFETY: as above, the one consumer.
        (producer, unsafe { Consumer::new(ring, Box::leak(Box::default()), SOMEBODY) })
    }

    /// The numbers of cells just before the flag wraps, and just before a lap would no longer fit into 32 bits.
    pub(crate) const WRAPS_OF_LAPS: [u64; 2] = [1 << 31, 1 << 32];

    /// Both ends of a ring that has carried all cells before number `start`.
    fn ends_at(ring: RingMemory, start: u64) -> (Producer, Consumer) {
        // SAFETY: a private ring.
        let credits = unsafe { &*ring.credits };
        credits.cells.store(start, Ordering::Relaxed);
        let (mut tx, mut rx) = ends(ring);
        (tx.head, tx.head_limit) = (start, start + ring.cell_count);
        rx.start_at(start, 0);
        (tx, rx)
    }

    impl Consumer {
        /// The number of the cell that is read next.
        pub(crate) fn next(&self) -> u64 {
            self.tail
        }

        /// Goes on as if all before these numbers had been taken.
        pub(crate) fn start_at(&mut self, cells: u64, bulk: u64) {
            (self.tail, self.published_tail) = (cells, cells);
            (self.bulk_tail, self.published_bulk) = (bulk, bulk);
        }
    }

    #[test]
    fn no_message_appears_where_laps_wrap() {
        const CELLS: u64 = 16;
        for laps in WRAPS_OF_LAPS {
            for len in [0, 8, 9, INLINE_BYTES] {
                let (mut tx, mut rx) = ends_at(ring(CELLS / 2, 4096), (laps - 3) * CELLS);
                for tag in 0..8 * CELLS as i32 {
                    assert!(tx.send_inline(&header(tag), len, |_| {}));
                    assert!(rx.take(|message| assert_eq!(message.header, header(tag))));
                    assert!(!rx.take(|message| panic!("nobody sent {message:?}")));
                }
            }
        }
    }

    pub(crate) fn header(tag: i32) -> Header {
        Header { kind: 7, aux: 513, context: u64::MAX - 1, envelope: Envelope::new(-5, tag) }
    }

    #[test]
    fn carries_every_field_and_stops_when_full() {
        let memory = ring(8, 4096);
        let (mut tx, mut rx) = ends(memory);
        for round in 0..100 {
            let mut sent = 0;
            // SAFETY: `fill` gets room for the 5 bytes announced.
            while tx.send_inline(&header(sent), 5, |to| unsafe { to.write_bytes(sent as u8, 5) }) {
                sent += 1;
            }
            assert!(sent >= 12, "round {round}: only {sent} of 16 cells usable");
            for tag in 0..sent {
                assert!(rx.take(|m| {
                    assert_eq!(m.header, header(tag));
                    assert_eq!(m.payload(), [tag as u8; 5]);
                }));
            }
            assert!(!rx.take(|_| unreachable!()));
        }
    }

    #[test]
    fn messages_of_all_sizes_keep_their_order_and_bytes() {
        let memory = ring(8, 4096);
        let (mut tx, mut rx) = ends(memory);
        let (mut sent, mut taken) = (0u32, 0u32);
        // Payloads that look like flags of every lap, to catch a half slot that was not cleared.
        let pattern = |i: u32| if i.is_multiple_of(3) { (i / 16 + 1) as u8 } else { 1 };
        let len = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 16) as usize % (INLINE_BYTES + 1);
        while taken < 50_000 {
            for _ in 0..(sent % 7) + 1 {
                let size = len(sent);
                // SAFETY: `fill` gets room for `size` bytes.
                let fill = |to: *mut u8| unsafe {
                    std::slice::from_raw_parts_mut(to, size)
                        .iter_mut()
                        .enumerate()
                        .for_each(|(k, byte)| *byte = if k % 4 == 0 { pattern(sent) } else { 0 });
                };
                if !tx.send_inline(&header(sent as i32), size, fill) {
                    break;
                }
                sent += 1;
            }
            while rx.take(|m| {
                assert_eq!((m.header.envelope.tag() as u32, m.len()), (taken, len(taken)));
                assert!(m.payload().iter().step_by(4).all(|&b| b == pattern(taken)));
            }) {
                taken += 1;
            }
            assert_eq!(taken, sent);
        }
    }

    /// Lengths up to the longest payload that a job's rings take, in an order that meets the end of the bulk area in all
    /// ways.
    pub(crate) fn mixed_lengths() -> impl Iterator<Item = usize> {
        let random =
            (0..4000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 8) as usize % (LONGEST_PAYLOAD + 1));
        [30720, 4096, LONGEST_PAYLOAD].into_iter().chain(random)
    }

    #[test]
    fn a_drained_ring_has_room_for_every_payload() {
        for ranks in [2, 8, 64, 65, 128] {
            let memory = ring(256, Geometry::for_job(ranks, 1).bulk_bytes as u64);
            let (mut tx, mut rx) = ends(memory);
            for len in mixed_lengths() {
                let sent = tx.send_bulk(&header(1), len, &[0; EXTRA_BYTES], |_| {});
                assert!(sent, "no room for {len} bytes in a drained ring of a job of {ranks} ranks");
                assert!(rx.take(|message| assert_eq!(message.len(), len)));
            }
        }
    }

    #[test]
    fn the_bulk_area_gets_memory_as_far_as_it_is_used() {
        let bulk_bytes = 4 * RESERVED_AT_ONCE;
        let (mut tx, mut rx) = ends(ring(256, bulk_bytes));
        let mut send = |count: usize| {
            for _ in 0..count {
                assert!(tx.send_bulk(&header(1), LONGEST_PAYLOAD, &[0; EXTRA_BYTES], |_| {}));
                assert!(rx.take(|_| {}));
            }
            tx.reserved
        };
        assert_eq!(send(0), 0);
        assert_eq!(send(1), RESERVED_AT_ONCE);
        assert_eq!(send(4), 2 * RESERVED_AT_ONCE);
        assert_eq!(send(40), bulk_bytes);
    }

    #[test]
    #[should_panic(expected = "no shared memory for messages to rank 3")]
    fn a_ring_without_memory_fails_before_it_is_touched() {
        let mut memory = ring(8, 4096);
        // Not mapped, as memory that cannot be had.
        memory.bulk = std::ptr::without_provenance_mut(4096);
        ends(memory).0.send_bulk(&header(1), 100, &[0; EXTRA_BYTES], |_| unreachable!("nothing is written"));
    }

    #[test]
    fn bulk_payloads_never_wrap_or_overlap() {
        let memory = ring(16, 4096);
        let (mut tx, mut rx) = ends(memory);
        let mut queue = std::collections::VecDeque::new();
        for i in 0..10_000usize {
            let len = (i * 37) % (tx.max_bulk() + 1);
            let extra = [i as u8; EXTRA_BYTES];
            // SAFETY: `fill` gets room for `len` bytes.
            while !tx.send_bulk(&header(i as i32), len, &extra, |to| unsafe { to.write_bytes(i as u8, len) })
            {
                let expected: usize = queue.pop_front().expect("room is found once the ring is drained");
                assert!(rx.take(|m| {
                    assert_eq!(m.header.envelope.tag(), expected as i32);
                    assert!(m.payload().iter().all(|&b| b == expected as u8));
                    assert_eq!(m.extra(), [expected as u8; EXTRA_BYTES]);
                }));
            }
            queue.push_back(i);
        }
    }
}
