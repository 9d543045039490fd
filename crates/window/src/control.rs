//! A process's words for a window, in memory that all its processes map; zeros are valid.
//!
//! ```text
//!  head        one cache line: which processes wait for a word here, the accumulate lock, the number of attached regions, the word
//!              on which this process's threads park
//!  posted      a word a process: how often that process has posted to this one
//!  completed   a word a process: how often that process has completed an access to this one
//!  locks       for each target, this process's words of the target's lock
//!  regions     in a dynamic window: address and length of each attached region
//!  service     in a window over private memory: the request to the window thread, and its bounce buffer
//! ```
//!
//! **Waiting.** A thread that waits for a word polls it for a moment, and then parks
//! ([`heddle_sync::marks`]): the marks of a word's keeper say which processes wait for its words, and each
//! process has a spot where its threads park. A parked thread hears no messages, so it wakes up every
//! millisecond to make progress.

use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU32, AtomicU64};
use heddle_platform::hint::spin_loop;
use heddle_sync::{ParkingSpot, Scope, WaitMarks};
use heddle_transport::SharedMemory;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The polls of a word before a thread parks: a few times the way of a cache line across the machine.
pub(crate) const POLLS: u32 = 100;

/// How often the first process of a lock's queue parks before it keeps others from entering past it.
const PATIENCE: u32 = 2;

/// How often a thread is woken in vain until it makes progress all the same.
const PROGRESS_EVERY: u32 = 16;

/// The longest time that a thread parks before it makes progress.
pub(crate) const LONGEST_PARK: Duration = Duration::from_millis(1);

const LINE: usize = 64;
const WORD: usize = size_of::<u64>();

/// The most regions that a process can attach to a window at one time.
pub(crate) const REGIONS: usize = 4096;

/// Where the words lie in a window block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) processes: usize,
    pub(crate) lock_words: usize,
    pub(crate) regions: usize,
    /// True if the window may lie over private memory.
    pub(crate) private: bool,
}

impl Geometry {
    fn counters_len(self) -> usize {
        (self.processes * WORD).next_multiple_of(LINE)
    }

    /// Each lock has its cache lines to itself.
    fn lock_len(self) -> usize {
        (self.lock_words * WORD).next_multiple_of(LINE)
    }

    fn locks_offset(self) -> usize {
        LINE + 2 * self.counters_len()
    }

    fn regions_offset(self) -> usize {
        self.locks_offset() + self.processes * self.lock_len()
    }

    /// The length of a window block in bytes.
    pub(crate) fn len(self) -> usize {
        self.service_offset() + if self.private { 2 * LINE + BOUNCE } else { 0 }
    }

    fn service_offset(self) -> usize {
        (self.regions_offset() + self.regions * 2 * WORD).next_multiple_of(LINE)
    }
}

/// The words of the window thread in a window block.
pub(crate) struct Desk<'a> {
    pub(crate) lock: &'a AtomicU64,
    pub(crate) state: &'a AtomicU32,
    pub(crate) writes: &'a AtomicU64,
    pub(crate) address: &'a AtomicU64,
    pub(crate) len: &'a AtomicU64,
    pub(crate) bounce: *mut u8,
}

/// Bytes of the bounce buffer.
pub(crate) const BOUNCE: usize = 16 << 10;

/// The words of one process, mapped here.
#[derive(Debug)]
pub(crate) struct Control {
    memory: SharedMemory,
    geometry: Geometry,
    /// This process's threads that wait for a word here.
    waiters: Mutex<usize>,
}

impl Control {
    /// Takes memory of [`Geometry::len`] bytes.
    pub(crate) fn new(memory: SharedMemory, geometry: Geometry) -> Control {
        assert!(memory.len() >= geometry.len(), "the memory is shorter than a window block");
        Control { memory, geometry, waiters: Mutex::new(0) }
    }

    pub(crate) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset + WORD <= self.geometry.len());
        // SAFETY: every offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.memory.as_ptr().add(offset) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and all offsets are multiples of 8"
        )]
        let word = address.cast::<AtomicU64>();
        // SAFETY: inside of the mapping, aligned, and every process uses it as an atomic.
        unsafe { &*word }
    }

    /// The processes that wait for a word of this one.
    fn marks(&self) -> &WaitMarks {
        let address = (&raw const *self.word(0)).cast::<WaitMarks>();
        // SAFETY: the word is used as this type alone, which it has room for.
        unsafe { &*address }
    }

    /// The accumulate lock of the process: 1 while a process is inside.
    pub(crate) fn accumulate_lock(&self) -> &AtomicU64 {
        self.word(WORD)
    }

    /// The number of entries of the table of regions that were ever used.
    pub(crate) fn regions_used(&self) -> &AtomicU64 {
        self.word(2 * WORD)
    }

    /// How often `process` has posted to this one.
    pub(crate) fn posted(&self, process: usize) -> &AtomicU64 {
        self.word(LINE + process * WORD)
    }

    /// How often `process` has completed an access to this one.
    pub(crate) fn completed(&self, process: usize) -> &AtomicU64 {
        self.word(LINE + self.geometry.counters_len() + process * WORD)
    }

    /// A word of the lock of `target` that this process keeps.
    #[inline(always)]
    pub(crate) fn lock_word(&self, target: usize, word: usize) -> &AtomicU64 {
        debug_assert!(target < self.geometry.processes && word < self.geometry.lock_words);
        self.word(self.geometry.locks_offset() + target * self.geometry.lock_len() + word * WORD)
    }

    /// The words of the window thread.
    ///
    /// # Panics
    /// If the window has no private memory.
    pub(crate) fn desk(&self) -> Desk<'_> {
        assert!(self.geometry.private, "the window has no thread");
        let first = self.geometry.service_offset();
        let state = (&raw const *self.word(first + WORD)).cast::<AtomicU32>();
        Desk {
            lock: self.word(first),
            // SAFETY: the word is used as this atomic alone, which it has room for.
            state: unsafe { &*state },
            writes: self.word(first + LINE),
            address: self.word(first + LINE + WORD),
            len: self.word(first + LINE + 2 * WORD),
            bounce: self.memory.as_ptr().wrapping_add(first + 2 * LINE),
        }
    }

    /// Address and length of a region.
    pub(crate) fn region(&self, index: usize) -> [&AtomicU64; 2] {
        let offset = self.geometry.regions_offset() + index * 2 * WORD;
        [self.word(offset), self.word(offset + WORD)]
    }

    /// Where threads of this process park.
    fn spot(&self) -> &ParkingSpot {
        let address = (&raw const *self.word(3 * WORD)).cast::<ParkingSpot>();
        // SAFETY: the word is used as this type alone, which it has room for.
        unsafe { &*address }
    }

    /// Wakes the processes that wait for a word here, after a sequentially consistent change of one. `all`
    /// has the blocks of the window's processes.
    #[inline(always)]
    pub(crate) fn changed(&self, all: &[Control]) {
        self.marks().wake(Scope::Machine, || all.iter().map(Control::spot));
    }

    /// Polls a word of this block until `is_over` accepts it, which is not called again after that and so may
    /// have an effect. Parks in the block `own` of process `this`.
    #[inline]
    pub(crate) fn wait(
        &self,
        domain: &Domain,
        (this, own): (usize, &Control),
        mut is_over: impl FnMut() -> bool,
    ) {
        if !is_over() {
            self.wait_long(domain, (this, own), None, &mut is_over);
        }
    }

    /// Does the same, but gives up after a while. Returns whether `is_over` has accepted the word.
    #[inline]
    pub(crate) fn wait_a_while(
        &self,
        domain: &Domain,
        (this, own): (usize, &Control),
        mut is_over: impl FnMut() -> bool,
    ) -> bool {
        is_over() || self.wait_long(domain, (this, own), Some(PATIENCE), &mut is_over)
    }

    /// Returns false if it has parked so many times in vain.
    #[cold]
    fn wait_long(
        &self,
        domain: &Domain,
        (this, own): (usize, &Control),
        times: Option<u32>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> bool {
        let mut rounds = 0;
        while Some(rounds) != times {
            for _ in 0..POLLS {
                if is_over() {
                    return true;
                }
                spin_loop();
            }
            if self.park(domain, (this, own), is_over) {
                return true;
            }
            rounds += 1;
            if rounds.is_multiple_of(PROGRESS_EVERY) {
                make_progress(domain);
            }
        }
        is_over()
    }

    /// Parks once. Returns true if `is_over` has accepted the word before.
    fn park(
        &self,
        domain: &Domain,
        (this, own): (usize, &Control),
        is_over: &mut dyn FnMut() -> bool,
    ) -> bool {
        self.count_waiters(|waiters| *waiters += 1);
        let ticket = own.spot().prepare(self.marks(), this);
        let over = is_over();
        let park = || ticket.park(Some(LONGEST_PARK), Scope::Machine);
        let woken = over || domain.calls().outside(park);
        self.count_waiters(|waiters| {
            *waiters -= 1;
            // Beyond 64 processes several share a mark, which then stays; a wake too many does no harm.
            if *waiters == 0 && self.geometry.processes <= 64 {
                self.marks().clear(this);
            }
        });
        if !woken {
            make_progress(domain);
        }
        over
    }

    fn count_waiters(&self, change: impl FnOnce(&mut usize)) {
        change(&mut self.waiters.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Makes progress on messages, unless there are threads for that.
fn make_progress(domain: &Domain) {
    if !domain.is_offloaded() {
        domain.poll_everywhere();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_do_not_overlap() {
        let geometry = Geometry { processes: 3, lock_words: 5, regions: 2, private: false };
        assert_eq!(geometry.counters_len(), 64);
        assert_eq!(geometry.locks_offset(), 3 * 64);
        assert_eq!(geometry.regions_offset(), 6 * 64);
        assert_eq!(geometry.len(), 7 * 64);
        let private = Geometry { private: true, ..geometry };
        assert_eq!(private.len(), 9 * 64 + BOUNCE);
        let wide = Geometry { processes: 9, lock_words: 9, regions: 0, private: false };
        assert_eq!(wide.len(), 64 + 2 * 128 + 9 * 128);
    }
}
