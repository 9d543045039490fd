//! Slots and cells: a cache line that carries one message of up to 40 bytes, or two of up to 8.
//!
//! ```text
//!  0        4      5      6      8              16             24                                   64
//!  ┌────────┬──────┬──────┬──────┬──────────────┬──────────────┬─────────────────────────────────────┐
//!  │ lap    │ kind │ len  │ aux  │ context      │ source, tag  │ payload (≤ 40 bytes), or            │
//!  │        │      │      │      │              │              │ bulk length, position, 24 extra     │
//!  └────────┴──────┴──────┴──────┴──────────────┴──────────────┴─────────────────────────────────────┘
//!  └────── one 64-bit word ──────┘
//!  ┌─────────────── cell 0 (even): payload ≤ 8 ────────────────┬────────── cell 1 (odd): the same ────┐
//! ```
//!
//! A slot is two cells of 32 bytes. A message of up to 8 bytes takes one cell, any other both. The number of
//! cache lines that move decides the rate: the producer's stores leave in order, and each line that the
//! consumer has read before must first be taken back from it.
//!
//! The first word is the flag: a cell holds message number *i* when its lap equals 2 ⌊*i* / cells⌋ + 1
//! (modulo 2^32, and so never 0). The producer fills everything else first and stores this word last
//! (Release); the consumer loads it (Acquire). Laps make clearing unnecessary, so the consumer never writes
//! to the line, and zeroed memory is an empty ring.
//!
//! Invariants:
//! 1. An even cell's first word is only ever a flag word, since every message that takes a
//!    whole slot begins there.
//! 2. An odd cell's first word may be left over from the payload of a whole-slot message. The consumer reads
//!    it only after a message in the even cell of the same lap, and that message's producer clears it first.
//!
//! The consumer does not rely on this: it checks lengths and positions before it follows them, since the
//! other process may have written anything. The checks cost a small message nothing: one comparison tells a
//! valid length inside the slot from all others.
//!
//! Why the flag is inside the slot: with head and tail indices a message costs a second cache line in each
//! direction, which was measured as 18 ns more latency and a third of the rate.

use heddle_platform::atomic::{AtomicU64, Ordering};

/// Bytes of payload that travel inside the slot.
pub const INLINE_BYTES: usize = 40;
/// Bytes that travel in the slot beside a bulk payload.
pub const EXTRA_BYTES: usize = 24;
/// Bytes of payload that fit into half a slot.
pub(crate) const CELL_INLINE_BYTES: usize = 8;
/// Bytes from one cell to the next.
pub(crate) const CELL_BYTES: usize = if cfg!(loom) { size_of::<Cell>() } else { 32 };
/// The value of `len` that says the payload lies in the bulk area.
const IN_BULK: u8 = 0xff;
/// The value of `len` of a cell that holds no message.
const SKIPPED: u8 = 0xfe;

/// The header of a message. `kind` and `aux` belong to the protocol above.
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

/// Source and tag of a message in one word. A pair of `i32` that is written in halves and read as a whole
/// makes the processor wait until its earlier stores have left, and those may wait for cache lines of another
/// core: one such read costs as much as a fence.
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

    /// The envelope of such a number.
    #[inline(always)]
    pub const fn of_bits(bits: u64) -> Envelope {
        Envelope(bits)
    }
}

/// A cell in shared memory, and the rest of its slot if it is the even one.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Cell {
    word: AtomicU64,
    context: u64,
    envelope: Envelope,
    payload: Payload,
}

/// Under the model checker loom follows each payload, so every cell has its payload (see `tracked.rs`).
#[cfg(not(loom))]
type Payload = [u8; INLINE_BYTES];
#[cfg(loom)]
type Payload = crate::tracked::Tracked;

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 64);

/// The first word of a cell that holds a message, or of one that is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag(u64);

impl Flag {
    /// The length of a payload inside the slot; a greater number has another meaning, or none.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        usize::from((self.0 >> 40) as u8)
    }

    /// Returns true if the payload lies in the bulk area.
    #[inline(always)]
    pub(crate) fn is_bulk(self) -> bool {
        self.len() == usize::from(IN_BULK)
    }

    /// Returns true if there is no message: the next one begins in the next slot.
    #[inline(always)]
    pub(crate) fn is_skip(self) -> bool {
        self.len() == usize::from(SKIPPED)
    }
}

/// Where the sender has written a message's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Inline { len: usize },
    Bulk,
}

#[cfg(loom)]
impl Kept {
    fn takes_whole_slot(self) -> bool {
        !matches!(self, Kept::Inline { len } if len <= CELL_INLINE_BYTES)
    }
}

impl Cell {
    /// A cell of an untouched ring.
    #[cfg(loom)]
    pub(crate) fn untouched() -> Cell {
        let payload = crate::tracked::untouched();
        Cell { word: AtomicU64::new(0), context: 0, envelope: Envelope::new(0, 0), payload }
    }

    /// The address of the payload area.
    ///
    /// # Safety
    /// `cell` points to a cell of a live mapping.
    #[inline(always)]
    pub(crate) unsafe fn payload(cell: *mut Cell) -> *mut u8 {
        // SAFETY: the caller vouches for `cell`; the field lies inside it.
        unsafe { (&raw mut (*cell).payload).cast() }
    }

    /// The payload area, for a write by this crate.
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`].
    #[inline(always)]
    unsafe fn payload_to_write(cell: *mut Cell) -> *mut u8 {
        // SAFETY: the caller's promise.
        let payload = unsafe { Cell::payload(cell) };
        #[cfg(loom)]
        let payload = crate::tracked::to_write(payload);
        payload
    }

    /// The payload area, for a read by this crate.
    ///
    /// # Safety
    /// The same as for [`Cell::header`].
    #[inline(always)]
    unsafe fn payload_to_read(cell: *mut Cell) -> *const u8 {
        // SAFETY: the caller's promise.
        let payload = unsafe { Cell::payload(cell) };
        #[cfg(loom)]
        let payload = crate::tracked::to_read(payload);
        payload
    }

    /// Writes the header's plain fields (not the flag word).
    ///
    /// # Safety
    /// `cell` is free (its message was consumed) and the caller is its ring's only producer.
    #[inline(always)]
    pub(crate) unsafe fn write_envelope(cell: *mut Cell, header: &Header) {
        // SAFETY: exclusive by the caller's promise; plain stores that the Release in `publish` orders.
        unsafe { (*cell).context = header.context };
        // SAFETY: exclusive by the caller's promise; plain stores that the Release in `publish` orders.
        unsafe { (*cell).envelope = header.envelope };
    }

    /// Writes the length and position of a bulk payload; the extra bytes follow them.
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`].
    #[inline(always)]
    #[expect(clippy::cast_ptr_alignment, reason = "read and written as unaligned")]
    pub(crate) unsafe fn write_bulk_position(cell: *mut Cell, len: u64, position: u64) {
        // SAFETY: exclusive by the caller's promise.
        let words = unsafe { Cell::payload_to_write(cell) }.cast::<[u64; 2]>();
        // SAFETY: 40 bytes of payload hold two words; write_unaligned asks for no alignment.
        unsafe { words.write_unaligned([len, position]) };
    }

    /// Writes the extra bytes of a bulk message, behind the length and position of its payload.
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`].
    #[inline(always)]
    pub(crate) unsafe fn write_extra(cell: *mut Cell, extra: &[u8; EXTRA_BYTES]) {
        // SAFETY: the caller's promise.
        let payload = unsafe { Cell::payload_to_write(cell) };
        // SAFETY: the payload area has 40 bytes; the extra ones follow the 16 of length and position.
        let target = unsafe { payload.add(INLINE_BYTES - EXTRA_BYTES) };
        // SAFETY: 24 bytes of the payload area lie behind `target`; source and target do not overlap.
        unsafe { target.copy_from_nonoverlapping(extra.as_ptr(), EXTRA_BYTES) };
    }

    /// Makes the cell visible to the consumer.
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`]; all other fields are written.
    #[inline(always)]
    pub(crate) unsafe fn publish(cell: *mut Cell, lap: u32, header: &Header, kept: Kept) {
        let len = match kept {
            Kept::Inline { len } => len as u8,
            Kept::Bulk => IN_BULK,
        };
        let word = u64::from(lap)
            | u64::from(header.kind) << 32
            | u64::from(len) << 40
            | u64::from(header.aux) << 48;
        #[cfg(loom)]
        if kept.takes_whole_slot() {
            // SAFETY: a message that takes a whole slot is in its even cell.
            unsafe { crate::tracked::leave_over(&(*cell.add(1)).word, lap) };
        }
        // SAFETY: the cell is live. Release: pairs with the Acquire in `flag`.
        unsafe { &(*cell).word }.store(word, Ordering::Release);
    }

    /// Marks a cell as holding no message.
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`].
    pub(crate) unsafe fn publish_skip(cell: *mut Cell, lap: u32) {
        // SAFETY: the cell is live. Release: pairs with the Acquire in `flag`.
        unsafe { &(*cell).word }.store(u64::from(lap) | u64::from(SKIPPED) << 40, Ordering::Release);
    }

    /// Clears a word that may look like a flag (invariant 2).
    ///
    /// # Safety
    /// The same as for [`Cell::write_envelope`].
    #[inline(always)]
    pub(crate) unsafe fn clear(cell: *mut Cell) {
        // SAFETY: the cell is live. Relaxed: the Release of the even cell's flag orders it.
        unsafe { &(*cell).word }.store(0, Ordering::Relaxed);
    }

    /// The flag of the cell, if it is the one of this lap.
    ///
    /// # Safety
    /// `cell` points to a cell of a live mapping and the caller is its ring's only consumer.
    #[inline(always)]
    pub(crate) unsafe fn flag(cell: *mut Cell, lap: u32) -> Option<Flag> {
        // SAFETY: the cell is live. Acquire: pairs with the Release in `publish`.
        let word = unsafe { &(*cell).word }.load(Ordering::Acquire);
        (word as u32 == lap).then_some(Flag(word))
    }

    /// The header of the message with this flag.
    ///
    /// # Safety
    /// The same as for [`Cell::flag`], which returned the flag. So the producer does not write to this slot
    /// again before the consumer returns the credit.
    #[inline(always)]
    pub(crate) unsafe fn header(cell: *mut Cell, Flag(word): Flag) -> Header {
        // SAFETY: the caller has the flag, so the producer writes here no more.
        let context = unsafe { (*cell).context };
        // SAFETY: the caller has the flag, so the producer writes here no more.
        let envelope = unsafe { (*cell).envelope };
        Header { kind: (word >> 32) as u8, aux: (word >> 48) as u16, context, envelope }
    }

    /// Length and position of a bulk payload, as the producer wrote them.
    ///
    /// # Safety
    /// The same as for [`Cell::header`].
    #[inline(always)]
    #[expect(clippy::cast_ptr_alignment, reason = "read and written as unaligned")]
    pub(crate) unsafe fn bulk_position(cell: *mut Cell) -> (u64, u64) {
        // SAFETY: the caller's promise.
        let words = unsafe { Cell::payload_to_read(cell) }.cast::<[u64; 2]>();
        // SAFETY: 40 bytes of payload hold two words; read_unaligned asks for no alignment.
        let [len, position] = unsafe { words.read_unaligned() };
        (len, position)
    }
}
