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
    let throttle: &'static AtomicU32 = Box::leak(Box::default());
    RingMemory::new(credits, (cells, slots * 2), (bulk, bulk_bytes), throttle)
}

pub(crate) fn ends(ring: RingMemory) -> (Producer, Consumer) {
    // SAFETY: a private ring, of which this is the one producer.
    let producer = unsafe { Producer::new(ring, SOMEBODY) };
    // SAFETY: a private ring, of which this is the one consumer.
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
    tx.head = start;
    (tx.head_limit, tx.credit_limit) = (start + ring.cell_count(), start + ring.cell_count());
    rx.start_at(start, 0);
    (tx, rx)
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

/// Lengths up to the longest payload that a job's rings take, in an order that reaches the end of the
/// bulk area at many offsets.
pub(crate) fn mixed_lengths() -> impl Iterator<Item = usize> {
    let random = (0..4000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 8) as usize % (LONGEST_PAYLOAD + 1));
    [30720, 4096, LONGEST_PAYLOAD].into_iter().chain(random)
}

#[test]
fn a_drained_ring_has_room_for_every_payload() {
    for ranks in [2, 8, 64, 65, 128] {
        let memory = ring(256, Geometry::for_job(ranks, 1).bulk_bytes as u64);
        let (mut tx, mut rx) = ends(memory);
        for len in mixed_lengths() {
            let sent = tx.send_bulk(Traffic::Eager, &header(1), len, &[0; EXTRA_BYTES], |_, _| {});
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
            assert!(tx.send_bulk(Traffic::Eager, &header(1), LONGEST_PAYLOAD, &[0; EXTRA_BYTES], |_, _| {}));
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
    // Not mapped, like memory that the system refuses.
    memory.bulk = std::ptr::without_provenance_mut(4096);
    ends(memory).0.send_bulk(Traffic::Eager, &header(1), 100, &[0; EXTRA_BYTES], |_, _| {
        unreachable!("nothing is written")
    });
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
        while !tx.send_bulk(Traffic::Eager, &header(i as i32), len, &extra, |to, _| unsafe {
            to.write_bytes(i as u8, len)
        }) {
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

#[test]
fn a_throttled_sender_sends_no_eager_message_within_a_lap_and_messages_of_protocols_always() {
    let memory = ring(8, 4096);
    let (mut tx, mut rx) = ends(memory);
    // SAFETY: a private ring, whose flag is never freed.
    let flag = unsafe { &*memory.throttle };
    for len in [0, 8, 40, 100] {
        let eager = |tx: &mut Producer| match len {
            100 => tx.send_bulk(Traffic::Eager, &header(1), len, &[0; EXTRA_BYTES], |_, _| {}),
            _ => tx.send_inline(&header(1), len, |_| {}),
        };
        flag.store(1, Ordering::Relaxed);
        let late = (0..100).take_while(|_| eager(&mut tx) && rx.take(|_| {})).count();
        assert!(late <= 16, "{late} messages of {len} bytes after the flag was raised");
        assert!(tx.is_throttled());
        for _ in 0..100 {
            assert!(tx.send_control(&header(2), &[0; EXTRA_BYTES]) && rx.take(|_| {}));
            assert!(
                tx.send_bulk(Traffic::Protocol, &header(3), 1000, &[0; EXTRA_BYTES], |_, _| {})
                    && rx.take(|_| {})
            );
            assert!(!eager(&mut tx));
        }
        let waiting = (0..100).take_while(|_| tx.send_control(&header(2), &[0; EXTRA_BYTES])).count();
        assert!(waiting <= 8, "{waiting} messages in 8 slots");
        while rx.take(|_| {}) {}
        flag.store(0, Ordering::Relaxed);
        assert!(eager(&mut tx) && rx.take(|_| {}), "it is lowered");
        assert!(!tx.is_throttled());
    }
}

#[test]
fn a_sender_without_room_for_its_payload_sees_that_its_receiver_throttles() {
    let memory = ring(256, 4 * LONGEST_PAYLOAD as u64);
    let (mut tx, _rx) = ends(memory);
    let send = |tx: &mut Producer| {
        tx.send_bulk(Traffic::Eager, &header(1), LONGEST_PAYLOAD, &[0; EXTRA_BYTES], |_, _| {})
    };
    while send(&mut tx) {}
    assert!(!tx.is_throttled());
    // SAFETY: the flag of a private ring.
    unsafe { &*memory.throttle }.store(1, Ordering::Relaxed);
    assert!(!send(&mut tx) && tx.is_throttled());
}

#[test]
fn long_payloads_are_stored_as_is_quicker() {
    let (mut tx, mut rx) = ends(ring(256, 4 * LONGEST_PAYLOAD as u64));
    // Whatever the machine: the first trial comes after 30 copies, and short payloads are no copies.
    let mut tried = Vec::new();
    for number in 0..32 {
        for len in [4095, 4096] {
            let fill =
                |_: *mut u8, stores| tried.extend((stores == Stores::PastCaches).then_some((number, len)));
            assert!(tx.send_bulk(Traffic::Eager, &header(1), len, &[0; EXTRA_BYTES], fill));
            assert!(rx.take(|_| {}));
        }
    }
    assert_eq!(tried, [(30, 4096), (31, 4096)]);
}
