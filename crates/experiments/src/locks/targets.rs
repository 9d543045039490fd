//! The figures that the locks have to reach, each checked against this run.

use super::contender::{Contender, Family};
use super::experiments::{LockExperiment, Metric};
use super::record::LockRow;
use crate::report::target::{Bound, Target, number};

/// Experiments in which a lock may not fall behind with more threads.
const THROUGHPUT: [LockExperiment; 3] = [LockExperiment::Empty, LockExperiment::Lines, LockExperiment::Fifo];

/// The rows of a run, found by name.
struct LockRows<'a>(&'a [LockRow]);

impl LockRows<'_> {
    fn row(&self, experiment: LockExperiment, metric: Metric, threads: usize) -> Option<&LockRow> {
        let wanted = (experiment, metric, threads);
        self.0.iter().find(|row| (row.experiment, row.metric, row.threads) == wanted)
    }

    fn value(&self, name: &str, experiment: LockExperiment, metric: Metric, threads: usize) -> Option<f64> {
        Some(self.row(experiment, metric, threads)?.figures.get(name)?.median)
    }

    fn rate(&self, name: &str, experiment: LockExperiment, threads: usize) -> Option<f64> {
        self.value(name, experiment, Metric::Rate, threads)
    }

    fn cost(&self, name: &str) -> Option<f64> {
        self.value(name, LockExperiment::Uncontended, Metric::CostNs, 1)
    }

    /// A lock's uncontended cost may be at most `factor` times another's.
    fn cost_against(&self, name: &str, other: &str, factor: f64) -> Target {
        Target::new(
            format!("uncontended: {name} against {other}"),
            self.cost(name),
            Bound::AtMost,
            self.cost(other).map(|cost| cost * factor),
            format!("{factor} x {other}'s"),
            "ns",
        )
    }

    /// A lock's rate has to be at least `factor` times the best peer's.
    fn rate_against_peers(
        &self,
        name: &str,
        experiment: LockExperiment,
        threads: usize,
        factor: f64,
    ) -> Target {
        let best = self.row(experiment, Metric::Rate, threads).and_then(|row| row.best_peer.as_ref());
        let basis = best.map_or("the best peer's".to_owned(), |best| {
            format!("{factor} x {}'s {}", best.name, number(best.median))
        });
        Target::new(
            format!("{}, {threads} threads: {name}", experiment.name()),
            self.rate(name, experiment, threads),
            Bound::AtLeast,
            best.map(|best| best.median * factor),
            basis,
            "1/s",
        )
    }

    /// A lock's rate has to be at least half of its own with two threads.
    fn rate_against_own(&self, name: &str, experiment: LockExperiment, threads: usize) -> Target {
        let own = self.rate(name, experiment, 2);
        Target::new(
            format!("{}, {threads} threads against 2: {name}", experiment.name()),
            self.rate(name, experiment, threads),
            Bound::AtLeast,
            own.map(|rate| rate / 2.0),
            "0.5 x its own with 2".to_owned(),
            "1/s",
        )
    }
}

/// Checks every target of the locks `measured` against a run's rows.
pub(crate) fn check(rows: &[LockRow], measured: &[&Contender], cores: usize) -> Vec<Target> {
    let figures = LockRows(rows);
    let ours: Vec<_> = measured.iter().copied().filter(|contender| contender.family.is_ours()).collect();
    let mut targets = Vec::new();
    uncontended(&figures, &ours, &mut targets);
    two_threads(&figures, &ours, &mut targets);
    for contender in ours.iter().filter(|contender| contender.family != Family::Strict) {
        for experiment in THROUGHPUT {
            let threads = [16, 64];
            targets.extend(threads.map(|n| figures.rate_against_own(contender.name, experiment, n)));
        }
    }
    if cores >= 16 {
        sixteen_cores(&figures, &ours, &mut targets);
    }
    targets
}

fn uncontended(figures: &LockRows<'_>, ours: &[&Contender], targets: &mut Vec<Target>) {
    for contender in ours {
        match (contender.name, contender.family) {
            ("mutex", _) => {
                targets
                    .extend(["parking_lot", "pthread"].map(|peer| figures.cost_against("mutex", peer, 1.0)));
            }
            ("mcs", _) => targets.push(figures.cost_against("mcs", "mutex", 1.5)),
            (name, Family::TwoLevel) => targets.push(figures.cost_against(name, "mutex", 2.0)),
            (name, Family::Combining) => {
                // `lockq-mcs` is a combining form of the strict lock.
                let under = name.strip_prefix("lockq-").and_then(|lock| {
                    [format!("strict-{lock}"), lock.to_owned()]
                        .into_iter()
                        .find(|under| Contender::named(under).is_some())
                });
                targets.extend(under.map(|under| figures.cost_against(name, &under, 1.3)));
            }
            _ => {}
        }
    }
}

fn two_threads(figures: &LockRows<'_>, ours: &[&Contender], targets: &mut Vec<Target>) {
    for contender in ours {
        match contender.family {
            Family::Queue => {
                for experiment in [LockExperiment::Empty, LockExperiment::Lines] {
                    targets.push(figures.rate_against_peers(contender.name, experiment, 2, 0.8));
                }
            }
            Family::Combining => {
                targets.push(figures.rate_against_peers(contender.name, LockExperiment::Fifo, 2, 1.0));
            }
            _ => {}
        }
    }
}

/// Targets for machines with 16 cores: combining beats the same queue under MCS.
fn sixteen_cores(figures: &LockRows<'_>, ours: &[&Contender], targets: &mut Vec<Target>) {
    let mcs = figures.rate("mcs", LockExperiment::Fifo, 16);
    for contender in ours.iter().filter(|contender| contender.family == Family::Combining) {
        targets.push(Target::new(
            format!("fifo, 16 threads on 16 cores or more: {}", contender.name),
            figures.rate(contender.name, LockExperiment::Fifo, 16),
            Bound::AtLeast,
            mcs.map(|rate| rate * 1.5),
            "1.5 x mcs'".to_owned(),
            "1/s",
        ));
    }
}
