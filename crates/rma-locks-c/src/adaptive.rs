//! The lock that tunes itself, and what the readers of this process remember.
//!
//! A reader is counted as gone where it was counted as come, and counters open and close in between. All
//! readers of this process that are inside came since the last writer left. So any of them may be counted as
//! gone first: as many stay counted as stay inside, and the next writer waits for them.

use crate::words::Words;
use heddle_platform::clock;
use heddle_rma_locks::{AdaptiveRw, Bounds, Layout, Reader, now};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock, for the threads of this process.
#[derive(Debug)]
pub(crate) struct AdaptiveLock {
    lock: AdaptiveRw,
    readers: Mutex<Readers>,
}

#[derive(Debug, Default)]
struct Readers {
    inside: Vec<Reader>,
    /// The last one that came: it knows best which counters are open.
    last: Reader,
}

impl AdaptiveLock {
    /// The lock, and the number of its words.
    pub(crate) fn new(layout: Layout, bounds: Bounds) -> (AdaptiveLock, usize) {
        let words = AdaptiveRw::words(&layout);
        (AdaptiveLock { lock: AdaptiveRw::new(layout, bounds), readers: Mutex::default() }, words)
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn comes(&self, reader: Reader) {
        let mut readers = self.readers();
        readers.last = reader.clone();
        readers.inside.push(reader);
    }

    pub(crate) fn acquire(&self, words: &Words, shared: bool) {
        if !shared {
            return now(self.lock.acquire_write(words));
        }
        let mut reader = self.readers().last.clone();
        now(self.lock.acquire_read(words, &mut reader));
        self.comes(reader);
    }

    pub(crate) fn try_acquire(&self, words: &Words, shared: bool) -> bool {
        if !shared {
            return now(self.lock.try_acquire_write(words));
        }
        let mut reader = self.readers().last.clone();
        let is_inside = now(self.lock.try_acquire_read(words, &mut reader));
        if is_inside {
            self.comes(reader);
        }
        is_inside
    }

    pub(crate) fn release(&self, words: &Words, shared: bool) {
        if !shared {
            return now(self.lock.release_write(words, clock::unix_ns()));
        }
        let reader = self.readers().inside.pop();
        now(self.lock.release_read(words, &reader.expect("a reader is inside")));
    }
}
