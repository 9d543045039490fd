//! The values that the adaptive lock may choose, and a choice.

use crate::layout::Layout;
use std::ops::RangeInclusive;

/// The least and the most that an [`AdaptiveRw`](crate::AdaptiveRw) may choose for each threshold, and how
/// long readers may be kept out. The bounds on bypassing are those of [`RmaRw`](crate::RmaRw) with the most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    pub(super) locality: Vec<RangeInclusive<u64>>,
    pub(super) writers: RangeInclusive<u64>,
    pub(super) patience: Option<ReaderPatience>,
}

/// How long readers may be kept out on average, if the least thresholds allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderPatience {
    /// For so many writers between two turns of the readers.
    Writers(u64),
    /// For so long from one turn of the readers to the next, in the unit of the time that a writer gives when
    /// it releases the lock.
    Time(u64),
}

/// Each process writes so many times while a reader waits, if the bounds say nothing else.
const WRITES: u64 = 4;
/// Turns of each place of a queue with which measuring begins.
const TURNS: u64 = 4;
/// A threshold takes the values most, most / 2, most / 4, .. down to the least.
const STEPS: u32 = 15;
/// Passings are counted in so many bits.
pub(super) const PASSINGS: u32 = 24;
/// The most of a threshold.
const MOST: u64 = (1 << (PASSINGS - 1)) - 1;

impl Bounds {
    /// `locality` for each level from 2 on, and `writers`, are what [`RmaRw::new`](crate::RmaRw::new)
    /// takes, from the least to the most. Without a [`ReaderPatience`] no more than four writers for each
    /// process enter between two turns of the readers, on average.
    ///
    /// # Panics
    /// If a range is empty, begins with 0, or ends above 2^15 times its beginning, or at 2^23 or more.
    pub fn new(locality: Vec<RangeInclusive<u64>>, writers: RangeInclusive<u64>) -> Bounds {
        for range in locality.iter().chain([&writers]) {
            let (least, most) = (*range.start(), *range.end());
            assert!(least > 0, "a threshold lets one pass at least");
            assert!(least <= most && most >> STEPS <= least, "the most is 1 to 2^15 times the least");
            assert!(most <= MOST, "passings are counted in few bits");
        }
        Bounds { locality, writers, patience: None }
    }

    /// Thresholds up to these. Each goes down to 1, or to the least that such a most allows. A number that is
    /// out of range counts as the nearest one within. `patience` is a number of writers, or 0 for the usual
    /// one.
    pub fn up_to(locality: &[u64], writers: u64, patience: u64) -> Bounds {
        let range = |most: u64| {
            let most = most.clamp(1, MOST);
            (most >> STEPS).max(1)..=most
        };
        let bounds = Bounds::new(locality.iter().map(|most| range(*most)).collect(), range(writers));
        match patience {
            0 => bounds,
            writers => bounds.with_patience(ReaderPatience::Writers(writers)),
        }
    }

    /// The same, with another patience.
    #[must_use]
    pub fn with_patience(mut self, patience: ReaderPatience) -> Bounds {
        self.patience = Some(patience);
        self
    }

    pub(super) fn patience_of(&self, layout: &Layout) -> ReaderPatience {
        self.patience.unwrap_or(ReaderPatience::Writers(WRITES * layout.processes() as u64))
    }

    /// T_L,i of a level from 2 on, in this setting.
    pub(super) fn locality(&self, level: usize, setting: Setting) -> u64 {
        value(&self.locality[level - 2], setting.locality)
    }

    /// T_L,1 in this setting.
    pub(super) fn writers(&self, setting: Setting) -> u64 {
        value(&self.writers, setting.writers)
    }

    /// The setting with which measuring begins: the middle between many counters and few, and thresholds that
    /// let each place that may wait in a queue have the lock some times in a turn, if the most does.
    pub(super) fn start(&self, layout: &Layout) -> Setting {
        let enough = |range, level| {
            let most = TURNS * layout.places(level) as u64;
            (0..halvings(range)).find(|halvings| value(range, *halvings) <= most).unwrap_or(halvings(range))
        };
        let locality = self.locality.iter().zip(2..).map(|(range, level)| enough(range, level));
        Setting {
            coarseness: self.last(layout).coarseness / 2,
            locality: locality.min().unwrap_or(0),
            writers: enough(&self.writers, 1),
        }
    }

    /// The setting with the coarsest counters of the layout and the least of each threshold.
    pub(super) fn last(&self, layout: &Layout) -> Setting {
        Setting {
            coarseness: layout.counters().len().ilog2(),
            locality: self.locality.iter().map(halvings).max().unwrap_or(0),
            writers: halvings(&self.writers),
        }
    }
}

fn value(range: &RangeInclusive<u64>, halvings: u32) -> u64 {
    (range.end() >> halvings).max(*range.start())
}

/// The fewest halvings that give the least.
fn halvings(range: &RangeInclusive<u64>) -> u32 {
    (0..=STEPS).find(|halvings| value(range, *halvings) == *range.start()).unwrap_or(STEPS)
}

/// A choice: how often the number of counters is halved, and how often the most of the thresholds is (one
/// number for all levels below the root). The first one, which is in force before the lock has
/// measured anything, is all 0: too few passings pile writers up, which costs more than too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Setting {
    pub(super) coarseness: u32,
    pub(super) locality: u32,
    pub(super) writers: u32,
}

impl Setting {
    const BITS: u32 = 13;

    /// The setting in the low bits of a word.
    pub(super) fn of(word: u64) -> Setting {
        let bits = word as u32;
        Setting { coarseness: bits & 31, locality: bits >> 5 & 15, writers: bits >> 9 & 15 }
    }

    /// A word below 2^13.
    pub(super) fn word(self) -> u64 {
        u64::from(self.coarseness | self.locality << 5 | self.writers << 9)
    }

    /// Another value of each, or the first again after the last: for tests.
    pub(super) fn next(self, last: Setting) -> Setting {
        let next = |step: u32, last: u32| if step < last { step + 1 } else { 0 };
        Setting {
            coarseness: next(self.coarseness, last.coarseness),
            locality: next(self.locality, last.locality),
            writers: next(self.writers, last.writers),
        }
    }
}

/// The bits of a setting in a word.
pub(super) const SETTING_BITS: u32 = Setting::BITS;

#[cfg(test)]
mod tests {
    use super::{Bounds, ReaderPatience, Setting};
    use crate::layout::Layout;

    #[test]
    fn thresholds_are_halved_from_the_most_to_the_least() {
        let bounds = Bounds::new(vec![3..=20, 5..=5], 1..=6);
        let last = bounds.last(&Layout::flat(8, 2));
        assert_eq!(last, Setting { coarseness: 2, locality: 3, writers: 2 });
        let values = |halvings| {
            let setting = Setting { coarseness: 0, locality: halvings, writers: halvings };
            [bounds.locality(2, setting), bounds.locality(3, setting), bounds.writers(setting)]
        };
        assert_eq!([0, 1, 2, 3].map(values), [[20, 5, 6], [10, 5, 3], [5, 5, 1], [3, 5, 1]]);
        assert_eq!(values(15), [3, 5, 1], "never below the least");
    }

    #[test]
    fn any_number_may_be_the_most() {
        let wide = Bounds::up_to(&[0, 100], u64::MAX, 0);
        assert_eq!(wide.patience, None);
        assert_eq!(Bounds::up_to(&[], 1, 7).patience, Some(ReaderPatience::Writers(7)));
        assert_eq!((wide.locality, wide.writers), (vec![1..=1, 1..=100], 255..=(1 << 23) - 1));
    }

    #[test]
    fn it_begins_with_thresholds_for_all_that_may_wait() {
        // Two elements of 4 processes: 2 places at the root, 4 below.
        let elements = vec![vec![0; 8], vec![0, 0, 0, 0, 1, 1, 1, 1]];
        let layout = Layout::new(elements, 1);
        assert_eq!([layout.places(1), layout.places(2)], [2, 4]);
        let start = |locality, writers| Bounds::new(vec![1..=locality], 1..=writers).start(&layout);
        assert_eq!(start(64, 64), Setting { coarseness: 1, locality: 2, writers: 3 });
        assert_eq!(start(16, 8), Setting { coarseness: 1, locality: 0, writers: 0 });
        assert_eq!(Bounds::new(vec![40..=64], 1..=1).start(&layout).locality, 1, "not below the least");
    }

    #[test]
    fn a_setting_fits_into_its_bits() {
        let most = Setting { coarseness: 31, locality: 15, writers: 15 };
        assert_eq!((Setting::of(most.word()), most.word() >> super::SETTING_BITS), (most, 0));
    }
}
