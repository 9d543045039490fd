//! One slot: a cache line that carries a whole small message.
//!
//! ```text
//!  0        4      5      6      8              16     20       24                                   64
//!  ┌────────┬──────┬──────┬──────┬──────────────┬──────┬────────┬─────────────────────────────────────┐
//!  │ lap    │ kind │ len  │ aux  │ context      │ tag  │ source │ payload (≤ 40 bytes), or            │
//!  │        │      │      │      │              │      │        │ bulk length, position, 24 extra     │
//!  └────────┴──────┴──────┴──────┴──────────────┴──────┴────────┴─────────────────────────────────────┘
//!  └────────── one 64-bit word ──┘
//! ```
//!
//! The first word is the flag: a slot holds message number *i* when its lap equals ⌊*i* / slots⌋ + 1. The producer
//! fills everything else first and stores this word last (Release); the consumer loads it (Acquire). Laps make
//! clearing unnecessary, so the consumer never writes to the line, and zeroed memory is an empty ring.
//!
//! Why the flag is inside the slot: with head and tail indices a message costs a second cache line each way, which
//! was measured as 18 ns more latency and a third of the rate.

use heddle_platform::atomic::{AtomicU64, Ordering};

/// Bytes of payload that travel inside the slot.
pub const INLINE_BYTES: usize = 40;
/// Bytes that travel in the slot beside a bulk payload.
pub const EXTRA_BYTES: usize = 24;
/// The value of `len` that says the payload lies in the bulk area.
const IN_BULK: u8 = 0xff;

/// What a message says about itself. `kind` and `aux` belong to the protocol above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The protocol's message kind.
    pub kind: u8,
    /// A small number whose meaning depends on `kind`.
    pub aux: u16,
    /// Context id of the communicator.
    pub context: u64,
    /// Sender and tag.
    pub envelope: Envelope,
}

/// Source and tag of a message in one word. A pair of `i32` that is written in halves and read as a whole makes the
/// processor wait until its earlier stores have left, and those may wait for cache lines of another core: one such
/// read costs as much as a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope(u64);

impl Envelope {
    /// The envelope of a message from a rank of the communicator.
    #[inline(always)]
    pub const fn new(source: i32, tag: i32) -> Envelope {
        Envelope((source as u32 as u64) << 32 | tag as u32 as u64)
    }

    /// Rank of the sender in the communicator.
    #[inline(always)]
    pub const fn source(self) -> i32 {
        (self.0 >> 32) as i32
    }

    /// Message tag.
    #[inline(always)]
    pub const fn tag(self) -> i32 {
        self.0 as i32
    }

    /// Both as one number.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// One 64-byte slot in shared memory.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Slot {
    word: AtomicU64,
    context: u64,
    envelope: Envelope,
    payload: [u8; INLINE_BYTES],
}

const _: () = assert!(size_of::<Slot>() == 64);

/// Where a message's payload lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Inline { len: usize },
    Bulk { len: u64, position: u64 },
}

impl Slot {
    /// The address of the payload area.
    ///
    /// # Safety
    /// `slot` points to a slot of a live mapping.
    #[inline(always)]
    pub(crate) unsafe fn payload(slot: *mut Slot) -> *mut u8 {
        // SAFETY: the caller vouches for `slot`; the field lies inside it.
        unsafe { (&raw mut (*slot).payload).cast() }
    }

    /// Writes the header's plain fields (not the flag word).
    ///
    /// # Safety
    /// `slot` is free (its message was consumed) and the caller is its ring's only producer.
    #[inline(always)]
    pub(crate) unsafe fn write_envelope(slot: *mut Slot, header: &Header) {
        // SAFETY: exclusive by the caller's promise; plain stores that the Release in `publish` orders.
        unsafe { (*slot).context = header.context };
        // SAFETY: as above.
        unsafe { (*slot).envelope = header.envelope };
    }

    /// Writes the position of a bulk payload; the extra bytes follow it.
    ///
    /// # Safety
    /// As [`Slot::write_envelope`].
    #[inline(always)]
    pub(crate) unsafe fn write_bulk_place(slot: *mut Slot, len: u64, position: u64) {
        // SAFETY: exclusive by the caller's promise.
        let words = unsafe { Slot::payload(slot) }.cast::<[u64; 2]>();
        // SAFETY: 40 bytes of payload hold two words; write_unaligned asks for no alignment.
        unsafe { words.write_unaligned([len, position]) };
    }

    /// Makes the slot visible to the consumer.
    ///
    /// # Safety
    /// As [`Slot::write_envelope`]; all other fields are written.
    #[inline(always)]
    pub(crate) unsafe fn publish(slot: *mut Slot, lap: u32, header: &Header, inline_len: Option<usize>) {
        let len = inline_len.map_or(IN_BULK, |len| len as u8);
        let word = u64::from(lap)
            | u64::from(header.kind) << 32
            | u64::from(len) << 40
            | u64::from(header.aux) << 48;
        // SAFETY: the slot is live. Release: pairs with the Acquire in `read`.
        unsafe { &(*slot).word }.store(word, Ordering::Release);
    }

    /// The message in the slot, if it is the one of this lap.
    ///
    /// # Safety
    /// `slot` points to a slot of a live mapping and the caller is its ring's only consumer.
    #[inline(always)]
    pub(crate) unsafe fn read(slot: *mut Slot, lap: u32) -> Option<(Header, Place)> {
        // SAFETY: live. Acquire: pairs with the Release in `publish`.
        let word = unsafe { &(*slot).word }.load(Ordering::Acquire);
        if word as u32 != lap {
            return None;
        }
        // SAFETY: the lap says that the producer has finished with this slot until we return the credit.
        let (context, envelope) = unsafe { ((*slot).context, (*slot).envelope) };
        let header = Header { kind: (word >> 32) as u8, aux: (word >> 48) as u16, context, envelope };
        let len = (word >> 40) as u8;
        if len != IN_BULK {
            return Some((header, Place::Inline { len: usize::from(len) }));
        }
        // SAFETY: as above.
        let words = unsafe { Slot::payload(slot) }.cast::<[u64; 2]>();
        // SAFETY: the producer wrote both words before publishing.
        let [len, position] = unsafe { words.read_unaligned() };
        Some((header, Place::Bulk { len, position }))
    }
}
