//! Counts of values by powers of two.

use super::tally::{Tally, Writers};
use heddle_platform::{Native, Platform};
use std::array;

/// One bucket for 0, and one for each number of binary digits.
pub const BUCKETS: usize = 65;

const fn bucket(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// Counts values by their number of binary digits. Recording one costs two stores.
#[derive(Debug)]
pub struct Histogram<P: Platform = Native> {
    buckets: [Tally<P>; BUCKETS],
    sum: Tally<P>,
}

impl<P: Platform> Default for Histogram<P> {
    fn default() -> Self {
        Self { buckets: array::from_fn(|_| Tally::default()), sum: Tally::default() }
    }
}

impl<P: Platform> Histogram<P> {
    /// Counts a value.
    #[inline]
    pub fn record(&self, value: u64, writers: Writers) {
        self.buckets[bucket(value)].add(1, writers);
        self.sum.add(value, writers);
    }

    /// The present counts, approximately.
    #[must_use]
    pub fn snapshot(&self) -> HistogramSnapshot {
        HistogramSnapshot {
            buckets: array::from_fn(|number| self.buckets[number].get()),
            sum: self.sum.get(),
        }
    }
}

/// A histogram's counts at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// The number of values with n binary digits, in bucket n: values below 2^n.
    pub buckets: [u64; BUCKETS],
    /// All values together; wraps around.
    pub sum: u64,
}

impl Default for HistogramSnapshot {
    fn default() -> Self {
        Self { buckets: [0; BUCKETS], sum: 0 }
    }
}

impl HistogramSnapshot {
    /// How many values there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The mean value; 0 if there were none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum as f64 / count as f64,
        }
    }

    /// A value that at least this share (0 to 1) of the values does not exceed: the upper end of a bucket.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut below = 0;
        for (number, count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= wanted {
                return u64::MAX.checked_shr(u64::BITS - number as u32).unwrap_or(0);
            }
        }
        u64::MAX
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn values_find_their_buckets() {
        let histogram = Histogram::<Native>::default();
        for value in [0, 1, 2, 3, 4, 1000, u64::MAX] {
            histogram.record(value, Writers::One);
        }
        let counts = histogram.snapshot();
        assert_eq!(counts.count(), 7);
        let filled: Vec<_> = (0..BUCKETS).filter(|number| counts.buckets[*number] != 0).collect();
        assert_eq!(filled, [0, 1, 2, 3, 10, 64]);
        assert_eq!(counts.buckets[2], 2);
        assert_eq!(counts.sum, 1009);
    }

    #[test]
    fn quantiles_are_upper_ends() {
        let histogram = Histogram::<Native>::default();
        assert_eq!(histogram.snapshot().quantile(0.5), 0);
        (0..100).for_each(|value| histogram.record(value, Writers::Many));
        let counts = histogram.snapshot();
        assert_eq!(counts.quantile(0.0), 0);
        assert_eq!(counts.quantile(0.5), 63);
        assert_eq!(counts.quantile(1.0), 127);
        assert!((counts.mean() - 49.5).abs() < 1e-9);
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!((twice.count(), twice.quantile(0.5)), (200, 63));
    }
}
