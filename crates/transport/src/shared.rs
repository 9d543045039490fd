//! The sending end of a ring for many threads of one process: none of them ever waits for another.
//!
//! A sender claims a slot with one compare-and-swap ([`Claims`]), fills it, and publishes it by
//! the flag in its cell. The ring and its reader are those of a single
//! [`Producer`](crate::Producer), with these differences:
//!
//! - Each message takes a whole slot, since two threads would otherwise write to one cache line. If its
//!   payload fits into the even cell, the odd cell is marked as one without a message.
//! - The reader takes messages in the order of the claims. If a sender stops before it publishes its message,
//!   the messages behind it wait until it continues; but no sender waits, since others claim the next slots.
//!
//! Order: a thread's messages lie in the ring in the order in which the thread sent them, since it claims a
//! slot for each before the next. The messages of two threads lie in order if one thread's call ended
//! before the other's began.

use crate::failure::Peer;
use crate::ring::{AHEAD, RingMemory, longest_payload};
use crate::slot::{CELL_INLINE_BYTES, Cell, EXTRA_BYTES, Header, INLINE_BYTES, Kept};
use crate::stores::{StoreChoice, Stores};
use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::hint;
use heddle_sync::queues::claims::{CELLS_A_SLOT, Claims, Credits, LINE_BYTES};

/// The sending end of a ring, for many threads.
#[derive(Debug)]
pub(crate) struct SharedProducer {
    ring: RingMemory,
    claims: Claims,
    /// Positions below this one have memory; `u64::MAX` once the whole area has it.
    reserved: AtomicU64,
    peer: Peer,
    stores: StoreChoice,
}

// SAFETY: the pointers lead into a shared mapping that outlives the producer; a thread writes
// only what it has claimed.
unsafe impl Send for SharedProducer {}
// SAFETY: the pointers lead into a shared mapping that outlives the producer; a thread writes
// only what it has claimed.
unsafe impl Sync for SharedProducer {}

impl SharedProducer {
    /// # Safety
    /// `ring` is a ring of a live mapping and this is its only producer.
    pub(crate) unsafe fn new(ring: RingMemory, peer: Peer) -> SharedProducer {
        let claims = Claims::new(ring.cell_count() / CELLS_A_SLOT, ring.bulk_bytes / LINE_BYTES);
        let stores = StoreChoice::default();
        SharedProducer { ring, claims, reserved: AtomicU64::new(0), peer, stores }
    }

    /// Returns true if the receiver throttles its senders.
    #[cfg(not(loom))]
    pub(crate) fn is_throttled(&self) -> bool {
        self.ring.is_throttled()
    }

    /// Claims a slot and `lines` lines of the bulk area. Returns the number of the slot's first
    /// cell, and the position of the lines in bytes. Once in 16 slots it clears `open` if the
    /// receiver throttles its senders.
    #[inline(always)]
    fn claim(&self, lines: u64, open: &AtomicBool) -> Option<(u64, u64)> {
        // SAFETY: the credits of a live ring.
        let credits = unsafe { &*self.ring.credits };
        let claim = self.claims.claim(lines, &Credits { cells: &credits.cells, bytes: &credits.bulk })?;
        let number = claim.slot * CELLS_A_SLOT;
        if number.is_multiple_of(CELLS_A_SLOT * AHEAD) {
            for slot in AHEAD..2 * AHEAD {
                hint::prefetch_for_write(self.ring.cell(number + CELLS_A_SLOT * slot));
            }
            if self.ring.is_throttled() {
                open.store(false, Ordering::Relaxed);
            }
        }
        Some((number, claim.line * LINE_BYTES))
    }

    /// Gets memory for the bulk area up to a position. Threads that call this at the same
    /// time get the same memory.
    #[cold]
    fn reserve(&self, end: u64) {
        let reserved = self.reserved.load(Ordering::Relaxed);
        let until = self.ring.reserve_bulk(reserved.min(self.ring.bulk_bytes), end, self.peer);
        let until = if until == self.ring.bulk_bytes { u64::MAX } else { until };
        self.reserved.fetch_max(until, Ordering::Relaxed);
    }

    /// Does the same as [`Producer::send_inline`](crate::Producer::send_inline). Clears `open` if it notices
    /// that the receiver throttles its senders.
    #[inline(always)]
    pub(crate) fn send_inline(
        &self,
        header: &Header,
        len: usize,
        fill: impl FnOnce(*mut u8),
        open: &AtomicBool,
    ) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let Some((number, _)) = self.claim(0, open) else { return false };
        let (cell, lap) = (self.ring.cell(number), self.ring.lap(number));
        if len <= CELL_INLINE_BYTES {
            // SAFETY: the odd cell of the claimed slot. The reader reads it only after the even one.
            unsafe { Cell::publish_skip(self.ring.cell(number + 1), lap) };
        }
        // SAFETY: the slot is claimed, so it is free and no other thread writes there.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: the slot is claimed, so it is free and no other thread writes there.
        fill(unsafe { Cell::payload(cell) });
        // SAFETY: this thread has claimed the slot, and every field is written.
        unsafe { Cell::publish(cell, lap, header, Kept::Inline { len }) };
        true
    }

    /// Does the same as [`Producer::send_bulk`](crate::Producer::send_bulk), and
    /// as [`send_inline`](Self::send_inline).
    #[inline]
    pub(crate) fn send_bulk(
        &self,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
        open: &AtomicBool,
    ) -> bool {
        assert!(
            len as u64 <= longest_payload(self.ring.bulk_bytes),
            "{len} bytes are too many for the bulk area"
        );
        // An empty payload takes a line, too: the reader counts the bulk area as consumed up to its end.
        let lines = (len as u64).div_ceil(LINE_BYTES).max(1);
        let Some((number, position)) = self.claim(lines, open) else { return false };
        let end = position + lines * LINE_BYTES;
        // Relaxed: memory that one thread has reserved is there for all threads.
        if end > self.reserved.load(Ordering::Relaxed) {
            self.reserve(end);
        }
        let offset = (position % self.ring.bulk_bytes) as usize;
        // SAFETY: the lines are claimed, lie inside of the bulk area and do not wrap.
        let to = unsafe { self.ring.bulk.add(offset) };
        self.stores.copy(len, |stores| fill(to, stores));
        let cell = self.ring.cell(number);
        // SAFETY: the slot is claimed, so it is free and no other thread writes there.
        unsafe { Cell::write_envelope(cell, header) };
        // SAFETY: the slot is claimed, so it is free and no other thread writes there.
        unsafe { Cell::write_bulk_position(cell, len as u64, position) };
        // SAFETY: the slot is claimed, so it is free and no other thread writes there.
        unsafe { Cell::write_extra(cell, extra) };
        // SAFETY: this thread has claimed the slot, and every field is written.
        unsafe { Cell::publish(cell, self.ring.lap(number), header, Kept::Bulk) };
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::ring::tests::{SOMEBODY, WRAPS_OF_LAPS, header, mixed_lengths, ring};
    use crate::ring::{Consumer, Incoming};
    use heddle_sync::queues::claims::Claim;
    use std::sync::Barrier;
    use std::thread;

    fn ends(memory: RingMemory) -> (SharedProducer, Consumer) {
        // SAFETY: a private ring, of which this is the one producer.
        let producer = unsafe { SharedProducer::new(memory, SOMEBODY) };
        // SAFETY: a private ring, of which this is the one consumer.
        (producer, unsafe { Consumer::new(memory, Box::leak(Box::default()), SOMEBODY) })
    }

    /// A message whose every byte tells its number.
    fn send(producer: &SharedProducer, tag: i32, len: usize) -> bool {
        // SAFETY: `fill` gets room for the bytes announced.
        let fill = |to: *mut u8| unsafe { to.write_bytes(tag as u8, len) };
        if len <= INLINE_BYTES {
            producer.send_inline(&header(tag), len, fill, &AtomicBool::default())
        } else {
            let fill = |to: *mut u8, _| fill(to);
            producer.send_bulk(&header(tag), len, &[tag as u8; EXTRA_BYTES], fill, &AtomicBool::default())
        }
    }

    fn check(message: &Incoming) -> i32 {
        let tag = message.header.envelope.tag();
        assert_eq!(message.header, header(tag));
        assert!(message.payload().iter().all(|byte| *byte == tag as u8), "message {tag}");
        assert!(message.len() <= INLINE_BYTES || message.extra() == [tag as u8; EXTRA_BYTES]);
        tag
    }

    /// Lengths of all kinds.
    fn len(number: i32) -> usize {
        [0, 8, 9, 40, 41, 64, 65, 1000][number as usize * 5 % 8]
    }

    #[test]
    fn carries_messages_of_all_sizes_in_order_and_stops_when_full() {
        let (producer, mut consumer) = ends(ring(8, 4096));
        let (mut sent, mut taken) = (0, 0);
        while taken < 20_000 {
            while send(&producer, sent, len(sent)) {
                sent += 1;
            }
            let before = taken;
            while consumer.take(|message| {
                assert_eq!((check(message), message.len()), (taken, len(taken)));
                taken += 1;
            }) {}
            assert!(taken - before >= 3, "hardly any room in an empty ring");
            assert_eq!(taken, sent);
        }
    }

    #[test]
    fn no_message_appears_or_gets_lost_where_numbers_wrap() {
        const SLOTS: u64 = 8;
        // Cells of a lap, then slots and lines as the claims count them.
        let cells = WRAPS_OF_LAPS.map(|laps| (laps * SLOTS, 0));
        for (slot, line) in cells.into_iter().chain([(1 << 40, 1 << 24), (1 << 41, 3 << 24)]) {
            let from = Claim { slot: slot - 3 * SLOTS, line: line.max(200) - 200 };
            let memory = ring(SLOTS, 4096);
            // SAFETY: a private ring.
            let credits = unsafe { &*memory.credits };
            credits.cells.store(from.slot * CELLS_A_SLOT, Ordering::Relaxed);
            credits.bulk.store(from.line * LINE_BYTES, Ordering::Relaxed);
            let (mut producer, mut consumer) = ends(memory);
            producer.claims = Claims::starting_at(SLOTS, 4096 / LINE_BYTES, from);
            consumer.start_at(from.slot * CELLS_A_SLOT, from.line * LINE_BYTES);
            for tag in 0..500 {
                assert!(send(&producer, tag, len(tag)));
                assert!(consumer.take(|message| assert_eq!(check(message), tag)));
                assert!(!consumer.take(|message| panic!("nobody sent {message:?}")));
            }
        }
    }

    #[test]
    fn a_drained_ring_has_room_for_every_payload() {
        for ranks in [2, 8, 64, 65, 128] {
            let (producer, mut consumer) = ends(ring(256, Geometry::for_job(ranks, 1).bulk_bytes as u64));
            for len in mixed_lengths() {
                let sent =
                    producer.send_bulk(&header(1), len, &[0; EXTRA_BYTES], |_, _| {}, &AtomicBool::default());
                assert!(sent, "no room for {len} bytes in a drained ring of a job of {ranks} ranks");
                assert!(consumer.take(|message| assert_eq!(message.len(), len)));
            }
        }
    }

    #[test]
    fn long_payloads_are_stored_as_is_quicker() {
        let (producer, mut consumer) = ends(ring(256, 4 << 16));
        let mut tried = Vec::new();
        for number in 0..32 {
            let fill = |_: *mut u8, stores| tried.extend((stores == Stores::PastCaches).then_some(number));
            assert!(producer.send_bulk(&header(1), 4096, &[0; EXTRA_BYTES], fill, &AtomicBool::default()));
            assert!(consumer.take(|_| {}));
        }
        assert_eq!(tried, [30, 31], "the first trial");
    }

    #[test]
    fn a_sender_stopped_in_the_middle_delays_no_other_sender() {
        let (producer, mut consumer) = ends(ring(8, 4096));
        let (begun, go_on) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                let fill = |_| {
                    begun.wait();
                    go_on.wait();
                };
                assert!(producer.send_inline(&header(0), 0, fill, &AtomicBool::default()));
            });
            begun.wait();
            for tag in 1..8 {
                assert!(send(&producer, tag, 8), "the ring has room");
            }
            assert!(!send(&producer, 8, 8), "now it is full");
            assert!(!consumer.take(|_| unreachable!("the first message is not there yet")));
            go_on.wait();
        });
        let mut tags = Vec::new();
        while consumer.take(|message| tags.push(check(message))) {}
        assert_eq!(tags, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn many_senders_lose_nothing_and_keep_their_own_order() {
        const SENDERS: i32 = 4;
        const EACH: i32 = 20_000;
        let (producer, mut consumer) = ends(ring(16, 8192));
        thread::scope(|scope| {
            for sender in 0..SENDERS {
                let producer = &producer;
                scope.spawn(move || {
                    for number in 0..EACH {
                        while !send(producer, sender * EACH + number, len(number)) {
                            thread::yield_now();
                        }
                    }
                });
            }
            let mut next = [0; SENDERS as usize];
            while next != [EACH; SENDERS as usize] {
                let took = consumer.take(|message| {
                    let tag = check(message);
                    let (sender, number) = (tag / EACH, tag % EACH);
                    assert_eq!(number, next[sender as usize], "sender {sender}");
                    assert_eq!(message.len(), len(number));
                    next[sender as usize] += 1;
                });
                if !took {
                    thread::yield_now();
                }
            }
        });
        assert!(!consumer.take(|_| unreachable!()));
    }
}
