//! A process's words for a window, in memory that all its processes map; zeros are valid.
//!
//! ```text
//!  head        one cache line: which processes wait for a word here, the accumulate lock, the number of attached regions
//!  posted      a word a process: how often that process has posted to this one
//!  completed   a word a process: how often that process has completed an access to this one
//!  locks       for each target, this process's words of the target's lock
//!  regions     in a dynamic window: address and length of each attached region
//! ```
//!
//! **Waiting.** A process that waits long for a word sets its bit in the `waiting` word of the process that keeps the word, and
//! then sleeps at its own doorbell if nothing happens (`heddle_message::progress`). A process that changes a word reads `waiting`
//! afterwards and rings the doorbells of those whose bits are set. The sleeper's heavy barrier lies between its bit and its last
//! look at the word; so either it sees the change, or the other sees the bit.

use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::barrier;
use heddle_transport::SharedMemory;
use std::sync::{Mutex, PoisonError};

const LINE: usize = 64;
const WORD: usize = size_of::<u64>();

/// The most regions that a process can attach to a window at one time.
pub(crate) const REGIONS: usize = 4096;

/// Where the words lie in a control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) processes: usize,
    pub(crate) lock_words: usize,
    pub(crate) regions: usize,
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

    /// The length of a control block in bytes.
    pub(crate) fn len(self) -> usize {
        self.regions_offset() + self.regions * 2 * WORD
    }
}

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
        assert!(memory.len() >= geometry.len(), "the memory is shorter than a control block");
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

    fn waiting(&self) -> &AtomicU64 {
        self.word(0)
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

    /// Address and length of a region.
    pub(crate) fn region(&self, index: usize) -> [&AtomicU64; 2] {
        let offset = self.geometry.regions_offset() + index * 2 * WORD;
        [self.word(offset), self.word(offset + WORD)]
    }

    /// Rings the doorbells of the processes that wait for a word here, after a change of one. `processes` lists the window's.
    #[inline(always)]
    pub(crate) fn changed(&self, domain: &Domain, processes: &[u32]) {
        barrier::light();
        let waiting = self.waiting().load(Ordering::Relaxed);
        if waiting != 0 {
            wake(domain, processes, waiting);
        }
    }

    /// Makes progress until `is_over` accepts a word of this block. It is not called again after that, so it may have an effect.
    #[inline]
    pub(crate) fn wait(&self, domain: &Domain, this: usize, is_over: impl FnMut() -> bool) {
        let mut is_over = is_over;
        if !is_over() {
            self.wait_long(domain, this, &mut is_over);
        }
    }

    #[cold]
    fn wait_long(&self, domain: &Domain, this: usize, is_over: &mut dyn FnMut() -> bool) {
        // The domain may ask again after a yes; but `is_over` may have taken a lock with it, or the word may have changed since.
        let mut over = false;
        let mut is_over = || {
            over = over || is_over();
            over
        };
        let bit = 1 << (this % 64);
        self.count_waiters(|waiters| {
            *waiters += 1;
            self.waiting().fetch_or(bit, Ordering::SeqCst);
        });
        domain.wait_until(0, &mut is_over);
        self.count_waiters(|waiters| {
            *waiters -= 1;
            // Beyond 64 processes several share a bit, which then stays; those that wait sleep for a bounded time in any case.
            if *waiters == 0 && self.geometry.processes <= 64 {
                self.waiting().fetch_and(!bit, Ordering::SeqCst);
            }
        });
    }

    fn count_waiters(&self, change: impl FnOnce(&mut usize)) {
        change(&mut self.waiters.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cold]
fn wake(domain: &Domain, processes: &[u32], waiting: u64) {
    for (index, process) in processes.iter().enumerate() {
        if waiting & 1 << (index % 64) != 0 {
            domain.fabric().wake(*process as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_do_not_overlap() {
        let geometry = Geometry { processes: 3, lock_words: 5, regions: 2 };
        assert_eq!(geometry.counters_len(), 64);
        assert_eq!(geometry.locks_offset(), 3 * 64);
        assert_eq!(geometry.regions_offset(), 6 * 64);
        assert_eq!(geometry.len(), 6 * 64 + 32);
        let wide = Geometry { processes: 9, lock_words: 9, regions: 0 };
        assert_eq!(wide.len(), 64 + 2 * 128 + 9 * 128);
    }
}
