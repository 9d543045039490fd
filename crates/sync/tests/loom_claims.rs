//! Claims in a ring under the model checker, with the flags and credits of a ring around them: every message
//! that was sent comes out once, each producer's in order, and no place is written while it is read. And each
//! fault is found.
#![cfg(loom)]

mod model;

use heddle_platform::platform::MemoryCell;
use heddle_sync::queues::claims::{CELLS_A_SLOT, Claims, Credits, LINE_BYTES};
use heddle_sync::{Native, Platform};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use model::{explore, with_fault};

type Cell<T> = <Native as Platform>::Cell<T>;

/// Producer, number, and where the rest of the message lies.
type Message = (usize, u32, u64);

struct Ring {
    claims: Claims,
    cells: AtomicU64,
    bytes: AtomicU64,
    slots: Vec<Slot>,
    lines: Vec<Cell<u32>>,
}

struct Slot {
    lap: AtomicU64,
    message: Cell<Message>,
}

// SAFETY: slots and lines go from claimer to reader and back, which is what these models check.
unsafe impl Sync for Ring {}
// SAFETY: a ring that moves is not in use.
unsafe impl Send for Ring {}

impl Ring {
    fn new(slots: u64, lines: u64) -> Ring {
        let slot = |_| Slot { lap: AtomicU64::new(0), message: MemoryCell::new((0, 0, 0)) };
        Ring {
            claims: Claims::new(slots, lines),
            cells: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            slots: (0..slots).map(slot).collect(),
            lines: (0..lines).map(|_| MemoryCell::new(0)).collect(),
        }
    }

    fn lap(&self, slot: u64) -> u64 {
        slot / self.slots.len() as u64 + 1
    }

    fn slot(&self, slot: u64) -> &Slot {
        &self.slots[slot as usize % self.slots.len()]
    }

    fn line(&self, line: u64) -> &Cell<u32> {
        &self.lines[line as usize % self.lines.len()]
    }

    /// Sends, with a line if there are any; whether there was room.
    fn send(&self, producer: usize, number: u32) -> bool {
        let credits = Credits { cells: &self.cells, bytes: &self.bytes };
        let lines = u64::from(!self.lines.is_empty());
        let Some(claim) = self.claims.claim(lines, &credits) else { return false };
        if lines != 0 {
            // SAFETY: claimed.
            self.line(claim.line).with_mut(|line| unsafe { *line = number });
        }
        let slot = self.slot(claim.slot);
        // SAFETY: claimed.
        slot.message.with_mut(|message| unsafe { *message = (producer, number, claim.line) });
        slot.lap.store(self.lap(claim.slot), Ordering::Release);
        true
    }
}

/// The reader, and the messages that it expects of each producer.
struct Reader {
    ring: Arc<Ring>,
    tail: u64,
    next: [u32; 3],
}

impl Reader {
    fn read(&mut self) -> bool {
        let slot = self.ring.slot(self.tail);
        if slot.lap.load(Ordering::Acquire) != self.ring.lap(self.tail) {
            return false;
        }
        // SAFETY: published, and not ours to give back yet.
        let (producer, number, line) = slot.message.with(|message| unsafe { *message });
        assert_eq!(number, self.next[producer], "out of order");
        self.next[producer] += 1;
        self.tail += 1;
        if !self.ring.lines.is_empty() {
            // SAFETY: published with the slot, and not ours to give back yet.
            let rest = self.ring.line(line).with(|rest| unsafe { *rest });
            assert_eq!(rest, number);
            self.ring.bytes.store((line + 1) * LINE_BYTES, Ordering::Release);
        }
        self.ring.cells.store(self.tail * CELLS_A_SLOT, Ordering::Release);
        true
    }
}

/// Each producer sends at most the given number of messages, until it finds no room; the reader polls while
/// they do, and then takes the rest.
fn all_arrive(slots: u64, lines: u64, each: &'static [u32]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let ring = Arc::new(Ring::new(slots, lines));
        let producers: Vec<_> = each
            .iter()
            .enumerate()
            .map(|(producer, count)| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || (0..*count).take_while(|number| ring.send(producer, *number)).count())
            })
            .collect();
        let mut reader = Reader { ring: Arc::clone(&ring), tail: 0, next: [0; 3] };
        // In a thread of its own: loom does not try all that the model's first thread could do.
        let reading = thread::spawn(move || {
            for _ in 0..2 {
                reader.read();
            }
            reader
        });
        let mut reader = reading.join().expect("reader");
        let sent: Vec<usize> = producers.into_iter().map(|p| p.join().expect("producer")).collect();
        while reader.read() {}
        for (sent, read) in sent.iter().zip(reader.next) {
            assert_eq!(*sent, read as usize, "everything that was sent is read");
        }
    }
}

#[test]
fn one_producer_and_a_ring_that_goes_round() {
    explore(None, all_arrive(2, 0, &[4]));
}

#[test]
fn two_producers() {
    explore(Some(2), all_arrive(2, 0, &[2, 2]));
}

#[test]
fn two_producers_one_slot() {
    explore(Some(3), all_arrive(1, 0, &[2, 1]));
}

#[test]
fn two_producers_with_lines() {
    explore(Some(2), all_arrive(4, 2, &[2, 2]));
}

#[test]
fn three_producers() {
    explore(Some(1), all_arrive(2, 0, &[1, 1, 1]));
}

with_fault!(a_claim_without_room_is_found, all_arrive(2, 0, &[3]));

with_fault!(two_claims_of_one_place_are_found, all_arrive(2, 0, &[1, 1]));

with_fault!(credits_that_order_nothing_are_found, all_arrive(1, 0, &[2]));

with_fault!(a_hint_that_orders_nothing_is_found, all_arrive(1, 0, &[1, 1, 1]));
