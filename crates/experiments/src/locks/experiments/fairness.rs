//! Fairness: each thread's share in a fixed time, and the longest wait.

use std::hint::black_box;

use heddle_platform::clock;

use super::sample::{Metric, Sample};
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::{self, TeamEffort, Until};

/// Additions in a critical section.
const ADDITIONS: u32 = 10;

/// Jain's index, the longest wait and the rate.
pub(super) fn measure<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    let guarded = K::guard(0_u64);
    let outcome = team::run(threads, Until::Time(effort.window), |_, turns| {
        let mut longest = 0_u64;
        while turns.next() {
            let asked = clock::ticks();
            let entered = guarded.with(|number| {
                let entered = clock::ticks();
                for _ in 0..ADDITIONS {
                    *number = black_box(*number + 1);
                }
                entered
            });
            // If the clocks of two cores disagree by a little, this must not give a wait of centuries.
            longest = longest.max(entered.saturating_sub(asked));
        }
        (turns.done(), longest)
    });
    let shares: Vec<f64> = outcome.results.iter().map(|(done, _)| *done as f64).collect();
    let longest = outcome.results.iter().map(|(_, longest)| *longest).max()?;
    Some(Sample(vec![
        (Metric::Jain, jain(&shares)?),
        (Metric::LongestWaitUs, clock::ticks_to_ns(longest) as f64 / 1e3),
        (Metric::Rate, shares.iter().sum::<f64>() / outcome.seconds),
    ]))
}

/// Jain's index: 1 if all shares are equal, 1/n if one thread has everything.
fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn the_index_is_one_for_equals_and_small_for_one_who_has_all() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
