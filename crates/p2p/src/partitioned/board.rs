//! The board: memory shared by the two sides of a partitioned operation.
//!
//! The sender allocates it and tells the receiver where it is. It has a head, and a slot for each of the
//! sender's partitions, or a single one for all if they have no data:
//!
//! ```text
//!   head  the receiver's words: gate, round taken, address of its buffer │ the sender's: where the stage is
//!   slot  flag, place │ data of a small partition, aligned to a cache line
//! ```
//!
//! **Where the data of a partition go.** Those of small partitions lie in the slots; there are two sets of
//! slots, for rounds in turn, so that the sender may be a round ahead. Larger ones the sender's threads write
//! straight into the receiver's buffer, by single copies of the kernel. Where the kernel forbids those, they
//! go through a *stage*, shared memory that the sender allocates then.
//!
//! Each slot begins on a cache line, so that threads do not disturb each other; where that would take much
//! more memory than the data, slots lie closer.

use heddle_comm::error::{Error, Result};
use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::queues::partitions::{Flag, Gate};
use heddle_transport::{SharedMemory, SharedRange};
use std::io;
use std::mem::offset_of;
use std::sync::OnceLock;

/// The longest partition that travels through its slot: above it a call of the kernel takes less time than a
/// second copy.
const LARGEST_IN_SLOT: usize = 8 << 10;
/// The most memory for the data in a set of slots.
const LARGEST_SET: usize = 4 << 20;
const LINE: usize = 64;
/// Where in a slot its data begin.
const DATA: usize = 8;
/// The most bytes of a board that has all its memory from the start, so that no partition waits for a page.
const LARGEST_WITH_PAGES: usize = 1 << 20;
/// The most partitions whose slots begin on cache lines.
const MOST_APART: usize = 1 << 16;

/// How a sender has divided its message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Division {
    pub(super) partitions: usize,
    /// The bytes of a partition.
    pub(super) bytes: usize,
}

impl Division {
    /// The division as both sides account for it: partitions without data are handed over, and arrive,
    /// together. So no memory is taken by a number of partitions that says nothing about data.
    pub(super) fn accounted(self) -> Division {
        if self.bytes == 0 { Division { partitions: self.partitions.min(1), bytes: 0 } } else { self }
    }

    /// The bytes of the message.
    pub(super) fn total(self) -> usize {
        self.partitions * self.bytes
    }

    /// Returns true if the data travel through the slots.
    pub(super) fn is_in_slots(self) -> bool {
        self.bytes <= LARGEST_IN_SLOT && self.total() <= LARGEST_SET
    }

    fn slot(self) -> usize {
        let alignment = if self.partitions <= MOST_APART { LINE } else { DATA };
        (DATA + if self.is_in_slots() { self.bytes } else { 0 }).next_multiple_of(alignment)
    }

    /// The bytes of a set of slots.
    fn set(self) -> usize {
        self.slot().saturating_mul(self.partitions)
    }
}

/// The first words of the board.
#[derive(Debug)]
#[repr(C)]
struct Head {
    from_receiver: FromReceiver,
    from_sender: FromSender,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct FromReceiver {
    gate: Gate,
    taken: AtomicU32,
    address: AtomicU64,
}

const _: () = assert!(offset_of!(Head, from_receiver.gate) == 0);

#[derive(Debug)]
#[repr(C, align(64))]
struct FromSender {
    stage_offset: AtomicU64,
    stage_len: AtomicU64,
}

/// The beginning of a slot.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Slot {
    pub(super) flag: Flag,
    /// 1 if the data are on the stage.
    place: AtomicU32,
}

/// The board of one operation.
#[derive(Debug)]
pub(super) struct Board {
    division: Division,
    is_in_slots: bool,
    slots: Slots,
    memory: SharedMemory,
    stage: OnceLock<SharedMemory>,
}

/// Where the gate and the slots are. A copy of it is valid as long as its board.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    gate: *const Gate,
    /// The sets of even and of odd rounds.
    sets: [*mut u8; 2],
    slot: usize,
}

// SAFETY: the words of slots are atomics; their data belong to one side at a time, which the gate and the
// flag say.
unsafe impl Send for Slots {}
// SAFETY: the same.
unsafe impl Sync for Slots {}

impl Slots {
    /// The slot of a partition, if there is such a partition.
    #[inline(always)]
    pub(super) fn of(&self, round: u32, partition: usize) -> *mut Slot {
        self.in_set(self.set_of(round), partition)
    }

    /// The set of slots of a round.
    #[inline(always)]
    pub(super) fn set_of(&self, round: u32) -> *mut u8 {
        self.sets[(round & 1) as usize]
    }

    /// The slot of a partition in a set, if there is such a partition.
    #[inline(always)]
    pub(super) fn in_set(&self, set: *mut u8, partition: usize) -> *mut Slot {
        set.wrapping_add(partition * self.slot).cast()
    }

    /// The receiver's word that lets partitions of a round come.
    ///
    /// # Safety
    /// The board exists.
    #[inline(always)]
    pub(super) unsafe fn gate(&self) -> &Gate {
        // SAFETY: the caller's promise.
        unsafe { &*self.gate }
    }
}

/// Where the data of a slot begin.
#[inline(always)]
pub(super) fn data_of(slot: *mut Slot) -> *mut u8 {
    slot.cast::<u8>().wrapping_add(DATA)
}

impl Board {
    /// A new board.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn allocate(domain: &Domain, division: Division) -> Result<Board> {
        let sets = if division.is_in_slots() { 2 } else { 1 };
        let len = division.set().saturating_mul(sets).saturating_add(size_of::<Head>());
        let fabric = domain.fabric();
        // A long board takes memory as partitions are handed over, not by their number.
        let memory =
            if len <= LARGEST_WITH_PAGES { fabric.allocate(len) } else { fabric.allocate_untouched(len) };
        let memory = memory.map_err(|error| no_memory(len, &error))?;
        Ok(Board::over(memory, division))
    }

    /// A board of flags alone, for data that come in messages.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn of_flags(domain: &Domain, division: Division) -> Result<Board> {
        let flags = Board::allocate(domain, Division { bytes: 0, ..division })?;
        Ok(Board { division, is_in_slots: false, ..flags })
    }

    /// The board of another process.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn map(domain: &Domain, division: Division, range: SharedRange) -> Result<Board> {
        Ok(Board::over(map(domain, range)?, division))
    }

    fn over(memory: SharedMemory, division: Division) -> Board {
        let is_in_slots = division.is_in_slots();
        let even = memory.as_ptr().wrapping_add(size_of::<Head>());
        let odd = even.wrapping_add(if is_in_slots { division.set() } else { 0 });
        // The head begins with the gate.
        let slots = Slots { gate: memory.as_ptr().cast(), sets: [even, odd], slot: division.slot() };
        Board { division, is_in_slots, slots, memory, stage: OnceLock::new() }
    }

    pub(super) fn division(&self) -> Division {
        self.division
    }

    /// Returns true if the data travel through the slots.
    pub(super) fn is_in_slots(&self) -> bool {
        self.is_in_slots
    }

    /// Where the other side finds it; `None` if this process has no job.
    pub(super) fn range(&self) -> Option<SharedRange> {
        self.memory.range()
    }

    #[expect(clippy::cast_ptr_alignment, reason = "the memory begins on a page")]
    #[inline(always)]
    fn head(&self) -> &Head {
        // SAFETY: the memory begins with a head of atomics, for which zeros are valid, and is aligned to a
        // page.
        unsafe { &*self.memory.as_ptr().cast::<Head>() }
    }

    /// The receiver's word that lets partitions of a round come.
    #[inline(always)]
    pub(super) fn gate(&self) -> &Gate {
        &self.head().from_receiver.gate
    }

    /// The last round whose data the receiver has taken. From then on it does not need the board for that
    /// round.
    pub(super) fn round_taken(&self) -> u32 {
        self.head().from_receiver.taken.load(Ordering::Acquire)
    }

    pub(super) fn set_round_taken(&self, round: u32) {
        self.head().from_receiver.taken.store(round, Ordering::Release);
    }

    /// Where the sender writes partitions that are not in slots, in the receiver's address space. The
    /// receiver sets it before it opens the gate.
    pub(super) fn address(&self) -> u64 {
        self.head().from_receiver.address.load(Ordering::Relaxed)
    }

    pub(super) fn set_address(&self, address: u64) {
        self.head().from_receiver.address.store(address, Ordering::Relaxed);
    }

    /// Where the slots are.
    pub(super) fn slots(&self) -> Slots {
        self.slots
    }

    #[inline(always)]
    fn slot_of(&self, round: u32, partition: usize) -> &Slot {
        debug_assert!(partition < self.division.partitions);
        // SAFETY: slots lie in the memory, at the beginning of lines; zeros are valid atomics.
        unsafe { &*self.slots.of(round, partition) }
    }

    /// The flag of a partition.
    #[inline(always)]
    pub(super) fn flag(&self, round: u32, partition: usize) -> &Flag {
        &self.slot_of(round, partition).flag
    }

    /// Where the data of a partition lie in its slot.
    #[inline(always)]
    pub(super) fn data(&self, round: u32, partition: usize) -> *mut u8 {
        debug_assert!(self.is_in_slots && partition < self.division.partitions);
        data_of(self.slots.of(round, partition))
    }

    /// Notes, before the flag is raised, whether the data of a partition are on the stage.
    pub(super) fn set_on_stage(&self, round: u32, partition: usize, on_stage: bool) {
        self.slot_of(round, partition).place.store(u32::from(on_stage), Ordering::Relaxed);
    }

    /// Returns true if the data of a partition, whose flag is raised, are on the stage.
    pub(super) fn is_on_stage(&self, round: u32, partition: usize) -> bool {
        self.slot_of(round, partition).place.load(Ordering::Relaxed) != 0
    }

    /// The sender's stage, with room for the whole message; `None` if there is no memory for it.
    pub(super) fn make_stage(&self, domain: &Domain) -> Option<*mut u8> {
        if self.stage.get().is_none() {
            let memory = domain.fabric().allocate(self.division.total()).ok()?;
            // Of two threads one keeps its memory.
            self.stage.get_or_init(|| {
                let range = memory.range().unwrap_or(SharedRange { offset: 0, len: 0 });
                let words = &self.head().from_sender;
                words.stage_offset.store(range.offset, Ordering::Relaxed);
                words.stage_len.store(range.len, Ordering::Relaxed);
                memory
            });
        }
        self.stage.get().map(SharedMemory::as_ptr)
    }

    /// The stage as the receiver finds it, after the flag of a partition that is there.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn find_stage(&self, domain: &Domain) -> Result<*mut u8> {
        if self.stage.get().is_none() {
            let words = &self.head().from_sender;
            let (offset, len) =
                (words.stage_offset.load(Ordering::Relaxed), words.stage_len.load(Ordering::Relaxed));
            let memory = map(domain, SharedRange { offset, len })?;
            return Ok(self.stage.get_or_init(|| memory).as_ptr());
        }
        Ok(self.stage.get().map_or(std::ptr::null_mut(), SharedMemory::as_ptr))
    }
}

fn map(domain: &Domain, range: SharedRange) -> Result<SharedMemory> {
    domain.fabric().map(range).map_err(|error| no_memory(range.len as usize, &error))
}

#[cold]
pub(super) fn no_memory(len: usize, error: &io::Error) -> Error {
    let message = format!("there are no {len} bytes of shared memory for a partitioned operation: {error}");
    Error::new(mpi::MPI_ERR_NO_MEM, message)
}
