//! A window block, mapped: its words, and waiting for them. `geometry.rs` has where they lie.
//!
//! **Waiting.** A thread that waits for a word polls it for a moment, with yields where processes share
//! cores, and then parks: it sleeps on the word's [`Event`]. Each word of a lock has an event, so that a
//! thread which changes a word wakes nobody else. A parked thread hears no messages, so it wakes up every
//! millisecond to make progress.

use crate::accumulate_lock::AccumulateLock;
use crate::geometry::{ACCUMULATE_LOCK, Geometry, LINE, MARKS, WORD, WordAt};
use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU32, AtomicU64};
use heddle_platform::hint::spin_loop;
use heddle_sync::{Event, Next, Scope, SharedMarks, Waiter};
use heddle_transport::SharedMemory;
use std::sync::Arc;
use std::time::Duration;

/// The polls of a word before a thread parks: a few times the way of a cache line across the machine.
pub(crate) const POLLS: u32 = 100;

/// How often the first process of a lock's queue parks before it keeps others from entering past it.
const PATIENCE: u32 = 2;

/// How often a thread is woken in vain until it makes progress all the same.
const PROGRESS_EVERY: u32 = 16;

/// The longest time that a thread parks before it makes progress.
pub(crate) const LONGEST_PARK: Duration = Duration::from_millis(1);

/// The words of the window thread in a window block.
pub(crate) struct Desk<'a> {
    pub(crate) state: &'a AtomicU32,
    pub(crate) request: &'a AtomicU64,
    pub(crate) address: &'a AtomicU64,
    pub(crate) len: &'a AtomicU64,
    /// 1 while there is a thread.
    pub(crate) serves: &'a AtomicU64,
    pub(crate) bounce: *mut u8,
}

/// The words of one process, mapped here.
#[derive(Debug, Clone)]
pub(crate) struct Control {
    base: *mut u8,
    geometry: Geometry,
    /// Keeps the words mapped.
    memory: Arc<SharedMemory>,
}

// SAFETY: the words are atomics; the memory of the window thread's copies is used by one thread at a time.
unsafe impl Send for Control {}
// SAFETY: the same.
unsafe impl Sync for Control {}

impl Control {
    /// Takes memory of [`Geometry::len`] bytes.
    pub(crate) fn new(memory: SharedMemory, geometry: Geometry) -> Control {
        assert!(memory.len() >= geometry.len(), "the memory is shorter than a window block");
        Control { base: memory.as_ptr(), geometry, memory: Arc::new(memory) }
    }

    pub(crate) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    #[inline(always)]
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// A word of this block.
    #[inline(always)]
    pub(crate) fn word(&self, word: WordAt) -> &AtomicU64 {
        debug_assert!(word.offset + WORD <= self.geometry.len());
        // SAFETY: every offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.base.add(word.offset) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and all offsets are multiples of 8"
        )]
        let word = address.cast::<AtomicU64>();
        // SAFETY: inside of the mapping, aligned, and every process uses it as an atomic.
        unsafe { &*word }
    }

    /// Where threads sleep that wait for a word of this block.
    #[inline(always)]
    pub(crate) fn event(&self, word: WordAt) -> &Event {
        debug_assert!(word.event + size_of::<Event>() <= self.geometry.len());
        // SAFETY: every offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.base.add(word.event) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and all offsets are multiples of 4"
        )]
        let event = address.cast::<Event>();
        // SAFETY: inside of the mapping, aligned, zero at first, and every process uses it as an event.
        unsafe { &*event }
    }

    /// The accumulate lock of the process.
    #[inline(always)]
    pub(crate) fn accumulate_lock(&self) -> &AccumulateLock {
        // SAFETY: the offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.base.add(ACCUMULATE_LOCK) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and the offset is a multiple"
        )]
        let lock = address.cast::<AccumulateLock>();
        // SAFETY: inside of the mapping, aligned, zero at first, and every process uses it as this lock.
        unsafe { &*lock }
    }

    /// Where threads of the process say that they change elements by processor atomics.
    #[inline(always)]
    pub(crate) fn marks(&self) -> &SharedMarks {
        // SAFETY: the offset is inside of the block, which `new` has checked the length of.
        let address = unsafe { self.base.add(MARKS) };
        #[expect(
            clippy::cast_ptr_alignment,
            reason = "a mapping begins on a page, and the offset is a multiple"
        )]
        let marks = address.cast::<SharedMarks>();
        // SAFETY: inside of the mapping, aligned, zero at first, and every process uses them as marks.
        unsafe { &*marks }
    }

    /// The words of the window thread.
    ///
    /// # Panics
    /// If the window has no private memory.
    pub(crate) fn desk(&self) -> Desk<'_> {
        assert!(self.geometry.contents.private, "the window has no thread");
        let first = self.geometry.desk();
        let line = first.plus(LINE / WORD);
        let state = (&raw const *self.word(first.plus(1))).cast::<AtomicU32>();
        Desk {
            // SAFETY: the word is used as this atomic alone, which it has room for.
            state: unsafe { &*state },
            request: self.word(line),
            address: self.word(line.plus(1)),
            len: self.word(line.plus(2)),
            serves: self.word(line.plus(3)),
            bounce: self.base.wrapping_add(line.offset + LINE),
        }
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

/// The longest pause between two polls: some hundred nanoseconds. A poll takes the word's cache line from the
/// processes that work with it.
const MOST_HINTS: u32 = 16;

/// The number of threads of a crowd, for a [`Waiter`]: a thread that waits has a core for itself no longer.
const SEVERAL: usize = 2;

/// Returns false if it has parked so many times in vain.
#[cold]
fn wait_long(domain: &Domain, event: &Event, times: Option<u32>, is_over: &mut dyn FnMut() -> bool) -> bool {
    let mut rounds = 0;
    while Some(rounds) != times {
        if poll(domain, is_over) {
            return true;
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

/// Polls the word until `is_over` accepts it; false if the thread is to park.
fn poll(domain: &Domain, is_over: &mut dyn FnMut() -> bool) -> bool {
    if !domain.has_cores() {
        return poll_with_yields(domain, is_over);
    }
    let mut hints = 1;
    for _ in 0..POLLS {
        if is_over() {
            return true;
        }
        (0..hints).for_each(|_| spin_loop());
        hints = (hints * 2).min(MOST_HINTS);
    }
    false
}

/// Does the same where more processes than cores use these: the one that will change the word may need this
/// core. (A spin of 40 µs kept it from that, and where nobody computes, all who wait yield at less cost than
/// one wake-up. Beside threads that compute the thread parks without a yield.)
fn poll_with_yields(domain: &Domain, is_over: &mut dyn FnMut() -> bool) -> bool {
    let mut waiter = Waiter::new(domain.wait_policy(), SEVERAL);
    loop {
        if is_over() {
            return true;
        }
        if domain.calls().outside(|| waiter.pause()) == Next::Park {
            return false;
        }
    }
}

/// Makes progress on messages, unless there are threads for that.
fn make_progress(domain: &Domain) {
    if !domain.is_offloaded() {
        domain.poll_everywhere();
    }
}
