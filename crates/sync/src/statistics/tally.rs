//! One counter.

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};

/// The number of threads that add to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Only the calling thread.
    One,
    /// Other threads, too.
    Many,
}

/// A number that only grows, and that any thread may read.
#[derive(Debug, Default)]
pub struct Tally<P: Platform = Native>(P::AtomicU64);

impl<P: Platform> Tally<P> {
    /// Adds. With [`Writers::One`] a load and a store, no atomic instruction.
    #[inline(always)]
    pub fn add(&self, count: u64, writers: Writers) {
        if writers == Writers::One {
            self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
        } else {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The present number, approximately.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
