//! The measurements, the medians over the rounds, and the file that keeps them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contender::{Contender, Family};
use super::experiments::{LockExperiment, Metric};
use crate::harness::load::Load;
use crate::harness::record::RunFacts;
use crate::harness::rounds::{OverRounds, median, mostly_disturbed};
use crate::report::target::Target;

/// A lock that took part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LockParticipant {
    /// Its name.
    pub(crate) name: String,
    /// `mutex`, `queue`, `two-level`, `combining`, `peer` or `reference`.
    pub(crate) family: String,
    /// Its name in the source.
    pub(crate) rust_type: String,
}

impl From<&Contender> for LockParticipant {
    fn from(contender: &Contender) -> Self {
        Self {
            name: contender.name.to_owned(),
            family: contender.family.name().to_owned(),
            rust_type: (contender.type_name)().to_owned(),
        }
    }
}

/// One cell of one round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LockMeasurement {
    /// Of what.
    pub(crate) experiment: LockExperiment,
    /// By how many threads.
    pub(crate) threads: usize,
    /// Which lock.
    pub(crate) lock: String,
    /// Counted from 1.
    pub(crate) round: u32,
    /// The load by other programs while the locks of this experiment and thread count were measured.
    pub(crate) load: Load,
    /// Cache-line round trip before that.
    pub(crate) probe_ns: Option<f64>,
    /// The figures.
    pub(crate) figures: BTreeMap<Metric, f64>,
}

/// A lock's figure over the rounds: the undisturbed rounds if there are enough, else all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LockFigure {
    /// Median over the rounds.
    pub(crate) median: f64,
    /// Smallest round.
    pub(crate) low: f64,
    /// Largest round.
    pub(crate) high: f64,
    /// Rounds that it is made of.
    pub(crate) rounds: usize,
    /// The number of rounds that were disturbed.
    pub(crate) disturbed: usize,
    /// Median of the probes beside it.
    pub(crate) probe_ns: Option<f64>,
}

impl LockFigure {
    /// Returns true if most rounds were disturbed.
    pub(crate) fn doubtful(&self) -> bool {
        mostly_disturbed(self.disturbed, self.rounds)
    }
}

/// The best of the peers in a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Best {
    /// Which.
    pub(crate) name: String,
    /// Its median.
    pub(crate) median: f64,
}

/// All locks' figures of one experiment, metric and number of threads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LockRow {
    /// Of what.
    pub(crate) experiment: LockExperiment,
    /// Which figure of it.
    pub(crate) metric: Metric,
    /// By how many threads.
    pub(crate) threads: usize,
    /// By lock.
    pub(crate) figures: BTreeMap<String, LockFigure>,
    /// The best of the other mutexes, with which Heddle's locks are compared.
    pub(crate) best_peer: Option<Best>,
}

impl LockRow {
    /// A lock's figure as a multiple of the best peer's.
    pub(crate) fn ratio(&self, name: &str) -> Option<f64> {
        let best = self.best_peer.as_ref().filter(|best| best.median > 0.0)?;
        Some(self.figures.get(name)?.median / best.median)
    }
}

/// Everything a run leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LockResults {
    /// This program's version.
    pub(crate) version: String,
    /// The run; it is complete if every cell was measured.
    #[serde(flatten)]
    pub(crate) run: RunFacts,
    /// Rounds that were wanted.
    pub(crate) rounds: u32,
    /// Iterations of a cell that counts them.
    pub(crate) iterations: u64,
    /// Seconds of a cell that counts time.
    pub(crate) seconds: f64,
    /// Who took part.
    pub(crate) locks: Vec<LockParticipant>,
    /// Every cell of every round.
    pub(crate) measurements: Vec<LockMeasurement>,
    /// Medians.
    pub(crate) summary: Vec<LockRow>,
    /// Targets, and whether they are met.
    pub(crate) targets: Vec<Target>,
}

/// Medians over the rounds: rows by experiment, metric and threads.
pub(crate) fn summarise(measurements: &[LockMeasurement]) -> Vec<LockRow> {
    type Cell<'a> = BTreeMap<&'a str, Vec<(f64, &'a LockMeasurement)>>;
    let mut cells: BTreeMap<(LockExperiment, Metric, usize), Cell<'_>> = BTreeMap::new();
    for measurement in measurements {
        for (&metric, &value) in &measurement.figures {
            let key = (measurement.experiment, metric, measurement.threads);
            cells.entry(key).or_default().entry(&measurement.lock).or_default().push((value, measurement));
        }
    }
    let rows = cells.into_iter().map(|((experiment, metric, threads), cell)| {
        let figures: BTreeMap<String, LockFigure> =
            cell.into_iter().filter_map(|(name, values)| Some((name.to_owned(), figure(&values)?))).collect();
        let best_peer = best_peer(metric, &figures);
        LockRow { experiment, metric, threads, figures, best_peer }
    });
    rows.collect()
}

fn best_peer(metric: Metric, figures: &BTreeMap<String, LockFigure>) -> Option<Best> {
    let is_peer =
        |name: &str| Contender::named(name).is_some_and(|contender| contender.family == Family::Peer);
    let peers = figures.iter().filter(|(name, _)| is_peer(name));
    peers
        .map(|(name, figure)| Best { name: name.clone(), median: figure.median })
        .reduce(|best, next| if metric.better(next.median, best.median) { next } else { best })
}

fn figure(values: &[(f64, &LockMeasurement)]) -> Option<LockFigure> {
    let over = OverRounds::of(values, |measurement| measurement.load)?;
    Some(LockFigure {
        median: over.median,
        low: over.low,
        high: over.high,
        rounds: over.used.len(),
        disturbed: over.disturbed,
        probe_ns: median(over.used.iter().filter_map(|measurement| measurement.probe_ns)),
    })
}

#[cfg(test)]
mod tests {
    use super::{LockMeasurement, summarise};
    use crate::harness::load::Load;
    use crate::locks::experiments::{LockExperiment, Metric};

    fn measured(lock: &str, round: u32, others: f64, rate: f64) -> LockMeasurement {
        LockMeasurement {
            experiment: LockExperiment::Empty,
            threads: 2,
            lock: lock.to_owned(),
            round,
            load: Load { others, stolen: 0.0 },
            probe_ns: Some(100.0),
            figures: [(Metric::Rate, rate), (Metric::LatencyNs, 2e9 / rate)].into(),
        }
    }

    #[test]
    fn each_metric_has_a_row_with_its_best_peer() {
        let rows = summarise(&[
            measured("mutex", 1, 0.0, 30.0),
            measured("std", 1, 0.0, 20.0),
            measured("pthread", 1, 0.0, 10.0),
        ]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].metric, Metric::Rate);
        assert_eq!(rows[0].best_peer.as_ref().map(|best| best.name.as_str()), Some("std"));
        assert_eq!(rows[0].ratio("mutex"), Some(1.5));
        assert_eq!(rows[1].best_peer.as_ref().map(|best| best.median), Some(1e8));
        assert!(rows[1].ratio("mutex").is_some_and(|ratio| ratio < 1.0));
    }

    #[test]
    fn a_round_is_disturbed_by_the_load_beside_it() {
        let rows = summarise(&[measured("mutex", 1, 0.0, 5.0), measured("mutex", 2, 0.9, 1.0)]);
        let figure = &rows[0].figures["mutex"];
        assert_eq!((figure.low, figure.rounds, figure.disturbed), (1.0, 2, 1));
    }
}
