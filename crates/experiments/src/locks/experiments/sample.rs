//! The results of an experiment.

use serde::{Deserialize, Serialize};

use crate::locks::team::TeamOutcome;

/// A figure that an experiment yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Metric {
    /// Nanoseconds of an acquire and a release.
    CostNs,
    /// Critical sections, or operations, a second by all threads together.
    Rate,
    /// Nanoseconds of one thread's iteration: threads / rate.
    LatencyNs,
    /// The slowest thread's share of the mean.
    SlowestShare,
    /// Jain's index of the threads' shares.
    Jain,
    /// The longest that any thread waited once.
    LongestWaitUs,
    /// The median hand-over.
    HandoverNs,
    /// The hand-over that 99 of 100 do not exceed.
    HandoverP99Ns,
    /// Hand-overs to a waiting thread as a share of all acquisitions.
    HandedOver,
}

impl Metric {
    /// The name of the figure, and its unit.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::CostNs => "cost (ns)",
            Self::Rate => "rate (1/s)",
            Self::LatencyNs => "latency (ns)",
            Self::SlowestShare => "slowest thread's share of the mean",
            Self::Jain => "Jain's index",
            Self::LongestWaitUs => "longest wait (us)",
            Self::HandoverNs => "hand-over, median (ns)",
            Self::HandoverP99Ns => "hand-over, 99th percentile (ns)",
            Self::HandedOver => "share of acquisitions that were handed over",
        }
    }

    /// True if a smaller figure is better.
    pub(crate) fn smaller_is_better(self) -> bool {
        match self {
            Self::CostNs | Self::LatencyNs | Self::LongestWaitUs | Self::HandoverNs | Self::HandoverP99Ns => {
                true
            }
            Self::Rate | Self::SlowestShare | Self::Jain | Self::HandedOver => false,
        }
    }

    /// Returns true if a comparison with the best peer's figure makes sense: shares may be zero.
    pub(crate) fn is_compared(self) -> bool {
        !matches!(self, Self::SlowestShare | Self::Jain | Self::HandedOver)
    }

    /// The better of two figures.
    pub(crate) fn better(self, one: f64, other: f64) -> bool {
        if self.smaller_is_better() { one < other } else { one > other }
    }
}

/// The figures of one cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sample(pub(crate) Vec<(Metric, f64)>);

impl Sample {
    /// Rate and the slowest thread's share, from the counts of the threads.
    pub(super) fn of_rates(outcome: &TeamOutcome<u64>) -> Option<Self> {
        let total: u64 = outcome.results.iter().sum();
        let slowest = *outcome.results.iter().min()?;
        if total == 0 {
            return None;
        }
        let threads = outcome.results.len() as f64;
        let rate = total as f64 / outcome.seconds;
        Some(Self(vec![
            (Metric::Rate, rate),
            (Metric::SlowestShare, slowest as f64 * threads / total as f64),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, Sample};
    use crate::locks::team::TeamOutcome;

    #[test]
    fn rates_count_all_threads_and_the_slowest() {
        let outcome = TeamOutcome { seconds: 2.0, results: vec![10, 30] };
        let sample = Sample::of_rates(&outcome).expect("something was done");
        assert_eq!(sample.0, [(Metric::Rate, 20.0), (Metric::SlowestShare, 0.5)]);
        assert_eq!(Sample::of_rates(&TeamOutcome { seconds: 1.0, results: vec![0, 0] }), None);
    }
}
