//! The window lock that tunes itself, and what this process remembers as a reader of each target.

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::clock;
use heddle_rma_locks::{AdaptiveRw, Bounds, Layout, Rank, Reader, Rma, now};

/// The lock of every target of a window.
#[derive(Debug)]
pub(crate) struct AdaptiveLock {
    lock: AdaptiveRw,
    /// For each target a [`Reader`]: its counter, and the coarseness that it takes for the one in force. Only
    /// the thread that takes or releases the lock there uses it (`passive_target`).
    readers: Box<[AtomicU64]>,
}

impl AdaptiveLock {
    pub(crate) fn new(layout: Layout, bounds: Bounds) -> AdaptiveLock {
        let readers = (0..layout.processes()).map(|_| AtomicU64::new(0)).collect();
        AdaptiveLock { lock: AdaptiveRw::new(layout, bounds), readers }
    }

    // Not inlined, so that the other locks' paths stay short.
    #[inline(never)]
    pub(crate) fn acquire(&self, words: &impl Rma, target: Rank, shared: bool) {
        if shared {
            let mut reader = self.reader(target);
            now(self.lock.acquire_read(words, &mut reader));
            self.readers[target].store(reader.word(), Ordering::Relaxed);
        } else {
            now(self.lock.acquire_write(words));
        }
    }

    #[inline(never)]
    pub(crate) fn release(&self, words: &impl Rma, target: Rank, shared: bool) {
        if shared {
            now(self.lock.release_read(words, &self.reader(target)));
        } else {
            now(self.lock.release_write(words, clock::unix_ns()));
        }
    }

    fn reader(&self, target: Rank) -> Reader {
        Reader::of(self.readers[target].load(Ordering::Relaxed))
    }
}
