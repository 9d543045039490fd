//! A ring for the model checker: the shipped producers and consumer over memory that loom follows.
//!
//! A payload, in a slot or in a line of the bulk area, is one tracked cell: loom reports two accesses to it
//! that nothing orders. The two cells of a slot do not overlap here. The model imitates the effect of the
//! overlap: a message that takes the whole slot leaves a word in the odd cell that looks like the flag of the
//! next lap, which is the worst that can be left there (`tracked::leave_over`).

use crate::failure::Peer;
use crate::ring::{Consumer, Credits, Producer, RingMemory};
use crate::shared::SharedProducer;
use crate::slot::Cell;
use crate::throttle::{Throttle, Traffic};
use crate::tracked::{Tracked, to_read, to_write, untouched};
use crate::{EXTRA_BYTES, Envelope, Header};
use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64};
use heddle_sync::Doorbell;
use std::sync::Arc;

/// A line of the bulk area.
#[repr(align(64))]
#[derive(Debug)]
struct Line(#[expect(dead_code, reason = "reached by its address")] Tracked);

const _: () = assert!(size_of::<Line>() == 64);

/// A ring in memory of a model.
#[derive(Debug)]
pub struct Ring {
    memory: RingMemory,
    doorbell: *const Doorbell,
    _credits: Box<Credits>,
    _cells: Box<[Cell]>,
    _lines: Box<[Line]>,
    _doorbell: Box<Doorbell>,
    _throttle: Box<AtomicU32>,
}

// SAFETY: the pointers lead into the boxes; the ends of the ring follow its protocol, which the models check.
unsafe impl Send for Ring {}
// SAFETY: the pointers lead into the boxes; the ends of the ring follow its protocol, which the models check.
unsafe impl Sync for Ring {}

/// How a message's payload travels: in half a slot, in a whole slot, or in the bulk area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// In half a slot.
    Half,
    /// In a whole slot.
    Whole,
    /// In the bulk area, one line.
    Bulk,
}

/// A sender of one thread.
#[derive(Debug)]
pub struct Sender(Producer);

/// A sender of many threads.
#[derive(Debug)]
pub struct SharedSender(SharedProducer);

impl Ring {
    /// A ring with `slots` slots, and `lines` lines of bulk area.
    pub fn new(slots: usize, lines: usize) -> Ring {
        let credits = Box::new(Credits { cells: AtomicU64::new(0), bulk: AtomicU64::new(0) });
        let mut cells: Box<[Cell]> = (0..2 * slots).map(|_| Cell::untouched()).collect();
        let mut lines: Box<[Line]> = (0..lines).map(|_| Line(untouched())).collect();
        let doorbell = Box::new(Doorbell::default());
        let throttle = Box::new(AtomicU32::new(0));
        let bulk = (lines.as_mut_ptr().cast(), 64 * lines.len() as u64);
        let memory = RingMemory::new(
            &raw const *credits,
            (cells.as_mut_ptr(), 2 * slots as u64),
            bulk,
            &raw const *throttle,
        );
        let pointer = &raw const *doorbell;
        Ring {
            memory,
            doorbell: pointer,
            _credits: credits,
            _cells: cells,
            _lines: lines,
            _doorbell: doorbell,
            _throttle: throttle,
        }
    }

    fn peer() -> Peer {
        Peer { rank: 1, fail: |failure| panic!("{failure}") }
    }

    /// Its only sender, for one thread.
    pub fn sender(&self) -> Sender {
        // SAFETY: the ring outlives its ends, and the caller makes one of each.
        Sender(unsafe { Producer::new(self.memory, Ring::peer()) })
    }

    /// Its only sender, for many threads.
    pub fn shared_sender(&self) -> SharedSender {
        // SAFETY: the ring outlives its ends, and the caller makes one of each.
        SharedSender(unsafe { SharedProducer::new(self.memory, Ring::peer()) })
    }

    /// Its only reader.
    pub fn reader(&self) -> Consumer {
        // SAFETY: the ring outlives its ends, and the caller makes one of each.
        unsafe { Consumer::new(self.memory, self.doorbell, Ring::peer()) }
    }
}

impl Sender {
    /// Sends a message; false if there is no room.
    pub fn send(&mut self, tag: i32, size: Size) -> bool {
        let (header, fill) = (header(tag), |to: *mut u8| write(to, tag));
        match size {
            Size::Half => self.0.send_inline(&header, 8, fill),
            Size::Whole => self.0.send_inline(&header, 40, fill),
            Size::Bulk => self.0.send_bulk(Traffic::Eager, &header, 64, &[0; EXTRA_BYTES], |to, _| fill(to)),
        }
    }
}

impl SharedSender {
    /// Sends a message; false if there is no room.
    pub fn send(&self, tag: i32, size: Size) -> bool {
        let (header, fill) = (header(tag), |to: *mut u8| write(to, tag));
        let open = &AtomicBool::new(true);
        match size {
            Size::Half => self.0.send_inline(&header, 8, fill, open),
            Size::Whole => self.0.send_inline(&header, 40, fill, open),
            Size::Bulk => self.0.send_bulk(&header, 64, &[0; EXTRA_BYTES], |to, _| fill(to), open),
        }
    }
}

/// Takes the next message: its tag, if there is one.
///
/// # Panics
/// If its payload is another message's.
pub fn take(reader: &mut Consumer) -> Option<i32> {
    let mut taken = None;
    reader.take(|message| {
        let tag = message.header.envelope.tag();
        let payload = to_read(message.payload().as_ptr()).cast::<u64>();
        // SAFETY: a tracked cell consists of words.
        let found = unsafe { payload.read() };
        assert_eq!(found, tag as u64, "another message's payload");
        taken = Some(tag);
    });
    taken
}

fn header(tag: i32) -> Header {
    Header { kind: 1, aux: 0, context: 0, envelope: Envelope::new(0, tag) }
}

fn write(to: *mut u8, tag: i32) {
    let payload = to_write(to).cast::<u64>();
    // SAFETY: a tracked cell consists of words.
    unsafe { payload.write(tag as u64) };
}

/// A throttle in memory of a model.
pub fn throttle(bound: usize) -> Throttle {
    let flag = Arc::new(AtomicU32::new(0));
    // SAFETY: the throttle keeps the flag.
    unsafe { Throttle::new(Arc::as_ptr(&flag), bound, Box::new(flag)) }
}
