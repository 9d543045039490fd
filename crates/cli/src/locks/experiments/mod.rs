//! The experiments: what is asked of every contender, one file each.

mod fairness;
mod fifo;
mod handover;
mod lines;
mod sections;
mod uncontended;

use serde::{Deserialize, Serialize};

use super::guarded::Kind;
use super::team::{Effort, Outcome};

pub(crate) use fifo::{CAPACITY as FIFO_CAPACITY, Fifo, measure_queue};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Experiment {
    /// Acquire and release by one thread, while nobody else is there.
    Uncontended,
    /// Nothing in the section and nothing outside.
    Empty,
    /// Ten additions in the section and ten outside.
    Mixed,
    /// The lock-latency experiment of Amer et al.: ten random cache lines in the section.
    Lines,
    /// Who gets how much, and how long anybody waits.
    Fairness,
    /// From a release to the entry of the thread that was waiting.
    Handover,
    /// Enqueue and dequeue on one queue.
    Fifo,
}

impl Experiment {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Uncontended,
        Self::Empty,
        Self::Mixed,
        Self::Lines,
        Self::Fairness,
        Self::Handover,
        Self::Fifo,
    ];

    /// As the command line and the results name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Empty => "empty",
            Self::Mixed => "mixed",
            Self::Lines => "lines",
            Self::Fairness => "fairness",
            Self::Handover => "handover",
            Self::Fifo => "fifo",
        }
    }

    /// In a sentence.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Uncontended => "acquire and release around one addition by one thread alone",
            Self::Empty => "an empty section, entered again at once",
            Self::Mixed => "ten additions in the section, ten outside",
            Self::Lines => {
                "ten random cache lines of 64 are written in the section (the papers' lock latency)"
            }
            Self::Fairness => "short sections for a fixed time: the threads' shares and waits",
            Self::Handover => "from a release to the entry of a thread that was waiting",
            Self::Fifo => "enqueue and dequeue in turn on one queue",
        }
    }

    /// Whether it can be made with so many threads.
    pub(crate) fn takes(self, threads: usize) -> bool {
        match self {
            Self::Uncontended => threads == 1,
            Self::Empty | Self::Mixed | Self::Lines | Self::Fifo => true,
            Self::Fairness | Self::Handover => threads > 1,
        }
    }
}

/// A figure that an experiment yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Metric {
    /// Nanoseconds of an acquire and a release.
    CostNs,
    /// Sections, or operations, a second by all threads together.
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
    /// What it says and in which unit.
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

    /// Whether a smaller figure is a better one.
    pub(crate) fn smaller_is_better(self) -> bool {
        match self {
            Self::CostNs | Self::LatencyNs | Self::LongestWaitUs | Self::HandoverNs | Self::HandoverP99Ns => {
                true
            }
            Self::Rate | Self::SlowestShare | Self::Jain | Self::HandedOver => false,
        }
    }

    /// Whether a multiple of the best peer's figure says something: shares may be zero.
    pub(crate) fn is_compared(self) -> bool {
        !matches!(self, Self::SlowestShare | Self::Jain | Self::HandedOver)
    }

    /// The better of two figures.
    pub(crate) fn better(self, one: f64, other: f64) -> bool {
        if self.smaller_is_better() { one < other } else { one > other }
    }
}

/// What one cell yields.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sample(pub(crate) Vec<(Metric, f64)>);

impl Sample {
    /// Rate and the slowest thread's share from what each thread has done.
    fn of_rates(outcome: &Outcome<u64>) -> Option<Self> {
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

/// Measures a kind of guarded value; nothing if it cannot take part.
pub(crate) fn measure<K: Kind>(experiment: Experiment, threads: usize, effort: &Effort) -> Option<Sample> {
    if !experiment.takes(threads) || (!K::SHARED && experiment != Experiment::Uncontended) {
        return None;
    }
    match experiment {
        Experiment::Uncontended => Some(uncontended::measure::<K>(effort)),
        Experiment::Empty => sections::empty::<K>(threads, effort),
        Experiment::Mixed => sections::mixed::<K>(threads, effort),
        Experiment::Lines => lines::measure::<K>(threads, effort),
        Experiment::Fairness => fairness::measure::<K>(threads, effort),
        Experiment::Handover => handover::measure::<K>(threads, effort),
        Experiment::Fifo => fifo::measure::<K>(threads, effort),
    }
}

/// Random numbers that cost a few instructions (xorshift64*).
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// A sequence of its own for each thread.
    fn of_thread(number: usize) -> Self {
        Self((number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Experiment, Metric, Sample};
    use crate::locks::contender::CONTENDERS;
    use crate::locks::team::{Effort, Outcome};

    /// Every contender in every experiment, as short as can be: each cell either yields finite figures or says that it
    /// makes no sense.
    #[test]
    fn every_cell_yields_figures() {
        let effort =
            Effort { iterations: 3_000, window: Duration::from_millis(3), limit: Duration::from_secs(5) };
        for contender in CONTENDERS {
            let mut cells = 0;
            for experiment in Experiment::ALL {
                for threads in [1, 2, 5] {
                    let Some(Sample(figures)) = contender.measure(experiment, threads, &effort) else {
                        continue;
                    };
                    assert!(experiment.takes(threads) && !figures.is_empty());
                    assert!(
                        figures.iter().all(|(_, value)| value.is_finite() && *value >= 0.0),
                        "{figures:?}"
                    );
                    cells += 1;
                }
            }
            assert!(cells > 0, "{} was never measured", contender.name);
        }
    }

    #[test]
    fn rates_count_all_threads_and_the_slowest() {
        let outcome = Outcome { seconds: 2.0, results: vec![10, 30] };
        let sample = Sample::of_rates(&outcome).expect("something was done");
        assert_eq!(sample.0, [(Metric::Rate, 20.0), (Metric::SlowestShare, 0.5)]);
        assert_eq!(Sample::of_rates(&Outcome { seconds: 1.0, results: vec![0, 0] }), None);
    }
}
