//! The counts of one thread.

use super::counted::{CountedEvent, Entry};
use super::section::Section;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::mem::offset_of;
use std::ptr;

/// A number that one thread adds to and any thread reads.
#[derive(Debug)]
pub(super) struct Count(AtomicU64);

impl Count {
    /// Adds: a load and a store, since no other thread writes.
    #[inline(always)]
    pub(super) fn add(&self, number: u64) {
        self.0.store(self.get().wrapping_add(number), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of one critical section: a pair of cache lines, of which an entry without contention touches
/// the first.
#[derive(Debug)]
#[repr(align(128))]
struct Lines([Count; Entry::COUNT]);

/// The counts of a thread, aligned to two lines, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
pub(super) struct Block {
    events: [Count; CountedEvent::COUNT],
    sections: [Lines; Section::COUNT],
}

impl Block {
    pub(super) const fn new() -> Block {
        Block {
            events: [const { Count(AtomicU64::new(0)) }; CountedEvent::COUNT],
            sections: [const { Lines([const { Count(AtomicU64::new(0)) }; Entry::COUNT]) }; Section::COUNT],
        }
    }

    #[inline(always)]
    pub(super) fn event(&self, event: CountedEvent) -> &Count {
        &self.events[event as usize]
    }

    /// The offset in bytes of the counts of a critical section.
    pub(super) fn offset_of(section: Section) -> u32 {
        (offset_of!(Block, sections) + section.index() * size_of::<Lines>()) as u32
    }

    /// Returns a count of the critical section whose counts lie at that offset.
    ///
    /// # Safety
    ///
    /// `offset` came from [`offset_of`](Self::offset_of).
    #[inline(always)]
    pub(super) unsafe fn entry(&self, offset: u32, entry: Entry) -> &Count {
        // SAFETY: its lines lie there, since the offset came from
        // `offset_of`, as the caller promises.
        let line = unsafe { ptr::from_ref(self).byte_add(offset as usize) }.cast::<Lines>();
        // SAFETY: the pointer leads to lines of this block, which live as long as the block.
        &unsafe { &*line }.0[entry as usize]
    }

    pub(super) fn counted(&self, section: Section, entry: Entry) -> u64 {
        self.sections[section.index()].0[entry as usize].get()
    }
}
