//! The number of times that the cohorts of each level keep the lock.

use super::tree::DEFAULT_THRESHOLD;
use std::fmt;
use std::str::FromStr;

/// The most levels that can have thresholds of their own: package, NUMA node, shared cache, core.
pub const MOST_LEVELS: usize = 4;

/// A threshold for the cohorts of each level: the number of times in a row that a cohort passes the lock on
/// within before others get it. The first is for the cohorts right below the top, and so on downwards; the
/// last one holds for all below. In text the numbers have colons between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The numbers after the first `given` are 0.
    levels: [u32; MOST_LEVELS],
    given: usize,
}

impl Thresholds {
    /// The same threshold at all levels.
    #[must_use]
    pub const fn at_all_levels(threshold: u32) -> Self {
        let mut levels = [0; MOST_LEVELS];
        levels[0] = threshold;
        Self { levels, given: 1 }
    }

    /// The thresholds that were given; the last one holds for all levels below.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.levels[..self.given]
    }

    /// The allowed text, for a sentence.
    #[must_use]
    pub fn allowed() -> String {
        format!(
            "a number from 1 to {}, or one for each of up to {MOST_LEVELS} levels from the outermost inwards, such as 64:16",
            u32::MAX
        )
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::at_all_levels(DEFAULT_THRESHOLD)
    }
}

impl fmt::Display for Thresholds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, threshold) in self.as_slice().iter().enumerate() {
            write!(f, "{}{threshold}", if level == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

/// The error for text that is no thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoThresholds;

impl FromStr for Thresholds {
    type Err = NoThresholds;

    fn from_str(text: &str) -> Result<Self, NoThresholds> {
        let mut thresholds = Self { levels: [0; MOST_LEVELS], given: 0 };
        for word in text.split(':') {
            let place = thresholds.levels.get_mut(thresholds.given).ok_or(NoThresholds)?;
            *place = word.parse().ok().filter(|threshold| *threshold != 0).ok_or(NoThresholds)?;
            thresholds.given += 1;
        }
        Ok(thresholds)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_they_are_written() {
        for (text, levels) in [("1", vec![1]), ("256:64", vec![256, 64]), ("4:3:2:1", vec![4, 3, 2, 1])] {
            let thresholds: Thresholds = text.parse().expect("thresholds");
            assert_eq!((thresholds.as_slice(), thresholds.to_string()), (&*levels, text.to_owned()));
        }
        for wrong in ["", "0", "1:", ":1", "1:0", "-1", "1,2", "4294967296", "1:2:3:4:5"] {
            assert_eq!(wrong.parse::<Thresholds>(), Err(NoThresholds), "{wrong}");
        }
    }
}
