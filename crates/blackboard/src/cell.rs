//! Where the words and cells of a blackboard are.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::queues::publications::{Finished, Mark, Waiting};
use heddle_transport::SharedMemory;

/// How far a process may be ahead of the others in lane 0, and in another lane.
pub(crate) const DEPTH: u32 = 128;
pub(crate) const LANE_DEPTH: u32 = 16;
/// How many persistent operations have a lane.
pub(crate) const LANES: usize = 8;

const LINE: usize = 64;
/// Pages of lane 0: with short slots, longer ones and the longest.
pub(crate) const KINDS_OF_PAGES: usize = 3;
/// These, and those of each other lane.
const ALL_PAGES: usize = KINDS_OF_PAGES + LANES;

/// Bytes of data in a cell.
pub(crate) const ROOM: usize = LINE - 16;

const CELLS: usize = DEPTH as usize + LANES * LANE_DEPTH as usize;
/// The bytes of a process's part.
const PART: usize = size_of::<Words>() + CELLS * size_of::<Cell>();

/// Where the data of a round are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// In the cell.
    Here,
    /// On the pages of this number, at the offset that lies in the cell.
    Pages(usize),
    /// In the process's own memory, at the address that lies in the cell.
    Exposed,
    /// In a message of the process.
    InMessage,
    /// There was no memory for them, or they are no more.
    Nowhere,
}

const PAGES: u32 = ALL_PAGES as u32;
const EXPOSED: u32 = PAGES + 1;
const IN_MESSAGE: u32 = PAGES + 2;
const NOWHERE: u32 = PAGES + 3;

impl Where {
    #[inline(always)]
    fn number(self) -> u32 {
        match self {
            Where::Here => 0,
            Where::Pages(number) => 1 + number as u32,
            Where::Exposed => EXPOSED,
            Where::InMessage => IN_MESSAGE,
            Where::Nowhere => NOWHERE,
        }
    }
}

/// What a process publishes in a round.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Cell {
    mark: Mark,
    /// The upper half is [`Where`] the data are.
    what: AtomicU32,
    len: AtomicU64,
    data: UnsafeCell<[u8; ROOM]>,
}

const _: () = assert!(size_of::<Cell>() == LINE);

// SAFETY: the data are written only while nobody reads them, which the rounds see to.
unsafe impl Sync for Cell {}

/// How far `Where` is shifted.
const PLACE: u32 = 16;

impl Cell {
    /// Where the data of the cell begin.
    #[inline(always)]
    pub(crate) fn data(&self) -> *mut u8 {
        self.data.get().cast()
    }

    /// Where the address of exposed data is, or the offset of data on pages.
    #[inline(always)]
    pub(crate) fn address(&self) -> *mut u64 {
        self.data().cast()
    }

    /// Makes the cell, whose data are there, visible.
    #[inline(always)]
    pub(crate) fn publish(&self, round: u32, what: u32, len: usize, place: Where) {
        // Relaxed: the mark brings them along.
        self.what.store(what | place.number() << PLACE, Ordering::Relaxed);
        self.len.store(len as u64, Ordering::Relaxed);
        self.mark.publish(round);
    }

    /// Says that what was published is no more.
    pub(crate) fn withdraw(&self) {
        let what = self.what.load(Ordering::Relaxed) & ((1 << PLACE) - 1);
        self.what.store(what | Where::Nowhere.number() << PLACE, Ordering::Relaxed);
    }

    /// What was published in a round.
    #[inline(always)]
    pub(crate) fn look(&self, round: u32) -> Option<(u32, usize, Where)> {
        if !self.mark.is_published(round) {
            return None;
        }
        let what = self.what.load(Ordering::Relaxed);
        let len = self.len.load(Ordering::Relaxed) as usize;
        let place = match what >> PLACE {
            0 if len <= ROOM => Where::Here,
            EXPOSED => Where::Exposed,
            IN_MESSAGE => Where::InMessage,
            number @ 1..=PAGES => Where::Pages(number as usize - 1),
            _ => Where::Nowhere,
        };
        Some((what & ((1 << PLACE) - 1), len, place))
    }
}

/// A range of the job's file, once it is there.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Range {
    pub(crate) offset: AtomicU64,
    pub(crate) len: AtomicU64,
}

/// The words of a process.
#[derive(Debug)]
#[repr(C, align(64))]
struct Words {
    finished: Finished,
    pages: [Range; ALL_PAGES],
    /// 1 when the process does not look at the blackboard any more.
    left: AtomicU32,
    lanes: Lanes,
}

/// Written by a process that starts persistent operations.
#[derive(Debug)]
#[repr(C, align(64))]
struct Lanes([Finished; LANES]);

/// The words in the first line.
#[derive(Debug)]
#[repr(C, align(64))]
struct Head {
    waiting: Waiting,
    slot: AtomicU32,
}

const _: () = assert!(size_of::<Head>() == LINE);

/// A blackboard's memory.
#[derive(Debug)]
pub(crate) struct Layout {
    memory: SharedMemory,
}

impl Layout {
    /// The bytes for this number of processes.
    pub(crate) fn len(processes: usize) -> usize {
        LINE + processes * PART
    }

    pub(crate) fn new(memory: SharedMemory) -> Layout {
        Layout { memory }
    }

    pub(crate) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    #[expect(clippy::cast_ptr_alignment, reason = "the memory begins on a page")]
    #[inline(always)]
    fn head(&self) -> &Head {
        // SAFETY: the memory begins with these words, which are atomics, for which zeros are valid.
        unsafe { &*self.memory.as_ptr().cast::<Head>() }
    }

    /// The word in which processes say that they wait for room.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> &Waiting {
        &self.head().waiting
    }

    /// The bytes of a slot on the last pages, as the process that has allocated the blackboard chose them.
    pub(crate) fn slot(&self) -> &AtomicU32 {
        &self.head().slot
    }

    #[inline(always)]
    fn part(&self, rank: usize) -> *mut u8 {
        debug_assert!(Layout::len(rank + 1) <= self.memory.len());
        self.memory.as_ptr().wrapping_add(LINE + rank * PART)
    }

    #[expect(clippy::cast_ptr_alignment, reason = "parts begin at lines, and the memory on a page")]
    #[inline(always)]
    fn words(&self, rank: usize) -> &Words {
        // SAFETY: a part begins with the words, which are atomics, for which zeros are valid.
        unsafe { &*self.part(rank).cast::<Words>() }
    }

    /// The rounds of a lane that a process has finished.
    #[inline(always)]
    pub(crate) fn finished(&self, rank: usize, lane: u32) -> &Finished {
        match lane {
            0 => &self.words(rank).finished,
            lane => &self.words(rank).lanes.0[lane as usize - 1],
        }
    }

    /// Where a process's pages are.
    #[inline(always)]
    pub(crate) fn pages_of(&self, rank: usize, number: usize) -> &Range {
        &self.words(rank).pages[number]
    }

    /// Whether a process does not look at the blackboard any more.
    pub(crate) fn left(&self, rank: usize) -> &AtomicU32 {
        &self.words(rank).left
    }

    /// The cell of a process for a round.
    #[expect(clippy::cast_ptr_alignment, reason = "cells are lines, and the memory begins on a page")]
    #[inline(always)]
    pub(crate) fn cell(&self, rank: usize, lane: u32, round: u32) -> &Cell {
        let index = match lane {
            0 => round % DEPTH,
            lane => DEPTH + (lane - 1) * LANE_DEPTH + round % LANE_DEPTH,
        };
        debug_assert!((index as usize) < CELLS);
        let offset = size_of::<Words>() + index as usize * size_of::<Cell>();
        // SAFETY: the cells follow the words of a part; they are atomics and bytes, for which zeros are
        // valid.
        unsafe { &*self.part(rank).wrapping_add(offset).cast::<Cell>() }
    }
}
