//! A process's words for a window, in memory that all its processes map; zeros are valid.
//!
//! ```text
//!  head        one cache line: the accumulate lock, the number of attached regions, the event of those that wait for another
//!              word than a lock's
//!  posted      a word a process: how often that process has posted to this one
//!  completed   a word a process: how often that process has completed an access to this one
//!  locks       for each target, this process's words of the target's lock, and then the events of those that wait for each
//!  regions     in a dynamic window: address and length of each attached region
//!  service     in a window over private memory: the request to the window thread, and its bounce buffer
//! ```
//!
//! **Waiting.** A thread that waits for a word polls it for a moment, and then parks: it sleeps on the word's
//! [`Event`]. Each word of a lock has an event, so that a thread which changes a word wakes nobody else. A
//! parked thread hears no messages, so it wakes up every millisecond to make progress.

use heddle_message::domain::Domain;
use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU32, AtomicU64};
use heddle_platform::hint::spin_loop;
use heddle_transport::{Event, SharedMemory};
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
        self.lock_events_offset() + (self.lock_words * size_of::<Event>()).next_multiple_of(LINE)
    }

    /// Where the events of a lock begin, after its words. They have their own lines: a thread that goes to
    /// sleep there does not take the words' line from the thread that uses the lock.
    fn lock_events_offset(self) -> usize {
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
}

impl Control {
    /// Takes memory of [`Geometry::len`] bytes.
    pub(crate) fn new(memory: SharedMemory, geometry: Geometry) -> Control {
        assert!(memory.len() >= geometry.len(), "the memory is shorter than a window block");
        Control { memory, geometry }
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

    #[inline(always)]
    fn event_at(&self, offset: usize) -> &Event {
        debug_assert!(offset + size_of::<Event>() <= self.geometry.len());
        // SAFETY: every offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.memory.as_ptr().add(offset) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and all offsets are multiples of 4"
        )]
        let event = address.cast::<Event>();
        // SAFETY: inside of the mapping, aligned, zero at first, and every process uses it as an event.
        unsafe { &*event }
    }

    /// Where threads sleep that wait for another word of this process than a lock's.
    pub(crate) fn event(&self) -> &Event {
        self.event_at(0)
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

    /// Where threads sleep that wait for that word.
    #[inline(always)]
    pub(crate) fn lock_event(&self, target: usize, word: usize) -> &Event {
        debug_assert!(target < self.geometry.processes && word < self.geometry.lock_words);
        let first = self.geometry.locks_offset() + target * self.geometry.lock_len();
        self.event_at(first + self.geometry.lock_events_offset() + word * size_of::<Event>())
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
}

/// Polls a word until `is_over` accepts it, which is not called again after that and so may have an effect.
/// Parks on the word's event.
#[inline]
pub(crate) fn wait(domain: &Domain, event: &Event, mut is_over: impl FnMut() -> bool) {
    if !is_over() {
        wait_long(domain, event, None, &mut is_over);
    }
}

/// Does the same, but gives up after a while. Returns whether `is_over` has accepted the word.
#[inline]
pub(crate) fn wait_a_while(domain: &Domain, event: &Event, mut is_over: impl FnMut() -> bool) -> bool {
    is_over() || wait_long(domain, event, Some(PATIENCE), &mut is_over)
}

/// Returns false if it has parked so many times in vain.
#[cold]
fn wait_long(domain: &Domain, event: &Event, times: Option<u32>, is_over: &mut dyn FnMut() -> bool) -> bool {
    let mut rounds = 0;
    while Some(rounds) != times {
        for _ in 0..POLLS {
            if is_over() {
                return true;
            }
            spin_loop();
        }
        let ticket = event.prepare();
        if is_over() {
            return true;
        }
        let woken = domain.calls().outside(|| ticket.sleep(Some(LONGEST_PARK), Scope::Machine));
        rounds += 1;
        if !woken || rounds.is_multiple_of(PROGRESS_EVERY) {
            make_progress(domain);
        }
    }
    is_over()
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
        assert_eq!(geometry.regions_offset(), 9 * 64);
        assert_eq!(geometry.len(), 10 * 64);
        let private = Geometry { private: true, ..geometry };
        assert_eq!(private.len(), 12 * 64 + BOUNCE);
        let wide = Geometry { processes: 9, lock_words: 9, regions: 0, private: false };
        assert_eq!(wide.len(), 64 + 2 * 128 + 9 * 192);
    }
}
