//! One number.

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};

/// Who adds to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// The calling thread alone.
    One,
    /// Others, too.
    Many,
}

/// A number that goes up, read by anybody.
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

    /// The number as of about now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
