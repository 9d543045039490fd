//! The figures that Heddle has to reach, each checked against this run.

use serde::{Deserialize, Serialize};

use super::library::{HEDDLE, Library};
use super::record::{Figure, Key, Row};
use super::thread_targets;

/// Name of the lowest thread level.
pub(crate) const SINGLE: &str = "single";
/// Name of the highest.
pub(crate) const MULTIPLE: &str = "multiple";
/// The two kinds of communicators.
pub(crate) const COMMS: [&str; 2] = ["shared", "per-thread"];
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Which side of the limit is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// The measured value may not be larger.
    AtMost,
    /// The measured value may not be smaller.
    AtLeast,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The target is met.
    Pass,
    /// It is not.
    Fail,
    /// A figure that it needs is missing.
    NotMeasured,
}

/// A target and what was measured for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Target {
    /// What has to hold.
    pub(crate) what: String,
    /// Heddle's figure.
    pub(crate) measured: Option<f64>,
    /// Which side is good.
    pub(crate) bound: Bound,
    /// The limit in this run.
    pub(crate) limit: Option<f64>,
    /// How the limit came about.
    pub(crate) basis: String,
    /// Unit of both.
    pub(crate) unit: String,
    /// Met or not.
    pub(crate) verdict: Verdict,
}

impl Target {
    /// Compares.
    pub(crate) fn new(
        what: String,
        measured: Option<f64>,
        bound: Bound,
        limit: Option<f64>,
        basis: String,
        unit: &str,
    ) -> Self {
        let verdict = match (measured, limit) {
            (Some(value), Some(limit)) => {
                let met = match bound {
                    Bound::AtMost => value <= limit,
                    Bound::AtLeast => value >= limit,
                };
                if met { Verdict::Pass } else { Verdict::Fail }
            }
            _ => Verdict::NotMeasured,
        };
        Self { what, measured, bound, limit, basis, unit: unit.to_owned(), verdict }
    }
}

/// Whether smaller figures of this unit are better.
pub(crate) fn smaller_is_better(unit: &str) -> bool {
    matches!(unit, "us" | "s" | "MiB" | "ns") || unit.starts_with('%')
}

/// The best of the other libraries in a row.
pub(crate) fn best_peer(row: &Row) -> Option<(&str, f64)> {
    let peers = row.figures.iter().filter(|(name, _)| !Library::is_heddle(name));
    let values = peers.map(|(name, figure)| (name.as_str(), figure.median));
    if smaller_is_better(&row.unit) {
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    } else {
        values.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The rows of a run, asked by key.
pub(crate) struct Figures<'a>(&'a [Row]);

impl Figures<'_> {
    fn row(&self, key: &Key) -> Option<&Row> {
        self.0.iter().find(|row| row.key == *key)
    }

    /// Heddle's figure at a key.
    pub(crate) fn heddle(&self, key: &Key) -> Option<&Figure> {
        self.row(key)?.figures.get(HEDDLE)
    }

    /// Its median.
    pub(crate) fn value(&self, key: &Key) -> Option<f64> {
        Some(self.heddle(key)?.median)
    }

    /// Heddle's figure at `key` against the best peer's at `peer_key`, times `factor`.
    pub(crate) fn against_peer(
        &self,
        what: &str,
        key: &Key,
        peer_key: &Key,
        bound: Bound,
        factor: f64,
    ) -> Target {
        let unit = self.row(key).or(self.row(peer_key)).map_or("", |row| row.unit.as_str());
        let best = self.row(peer_key).and_then(best_peer);
        let basis = match best {
            Some((name, value)) => format!("{factor} x {name}'s {}", number(value)),
            None => format!("{factor} x the best peer's"),
        };
        Target::new(
            what.to_owned(),
            self.value(key),
            bound,
            best.map(|(_, value)| value * factor),
            basis,
            unit,
        )
    }

    /// Heddle's figure at `key` against its own at `other`, times `factor`.
    pub(crate) fn against_own(
        &self,
        what: &str,
        key: &Key,
        other: &Key,
        bound: Bound,
        factor: f64,
    ) -> Target {
        let unit = self.row(key).map_or("", |row| row.unit.as_str());
        let own = self.value(other);
        let basis = format!("{factor:.3} x its own {}", own.map_or("(not measured)".to_owned(), number));
        Target::new(what.to_owned(), self.value(key), bound, own.map(|value| value * factor), basis, unit)
    }

    /// A figure of Heddle against a fixed limit.
    pub(crate) fn absolute(
        &self,
        what: &str,
        measured: Option<f64>,
        bound: Bound,
        limit: f64,
        unit: &str,
    ) -> Target {
        Target::new(what.to_owned(), measured, bound, Some(limit), "fixed".to_owned(), unit)
    }
}

/// A figure with three significant digits or more.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.2}M", value / 1e6),
        v if v >= 1e4 => format!("{:.1}k", value / 1e3),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn size_name(size: u64) -> String {
    match size {
        s if s >= MIB && s % MIB == 0 => format!("{} MiB", s / MIB),
        s if s >= KIB && s % KIB == 0 => format!("{} KiB", s / KIB),
        s => format!("{s} B"),
    }
}

/// Checks every target against a run's rows.
pub(crate) fn check(rows: &[Row]) -> Vec<Target> {
    let figures = Figures(rows);
    let mut targets = Vec::new();
    one_thread(&figures, &mut targets);
    level_cost(&figures, &mut targets);
    thread_targets::check(&figures, &mut targets);
    footprint(&figures, &mut targets);
    targets
}

fn one_thread(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for size in [0, 8] {
        targets.push(figures.against_peer(
            &format!("latency {}, MULTIPLE, against peers' SINGLE", size_name(size)),
            &Key::new("latency", MULTIPLE, size),
            &Key::new("latency", SINGLE, size),
            Bound::AtMost,
            0.8,
        ));
    }
    targets.push(figures.against_peer(
        "message rate 8 B, MULTIPLE, against peers' SINGLE",
        &Key::new("rate", MULTIPLE, 8),
        &Key::new("rate", SINGLE, 8),
        Bound::AtLeast,
        1.5,
    ));
    for size in [8 * KIB, MIB, 4 * MIB] {
        targets.push(figures.against_peer(
            &format!("bandwidth {}, MULTIPLE, against peers' SINGLE", size_name(size)),
            &Key::new("bandwidth", MULTIPLE, size),
            &Key::new("bandwidth", SINGLE, size),
            Bound::AtLeast,
            1.0,
        ));
    }
}

/// `MPI_THREAD_MULTIPLE` with one thread may cost 15 % over `MPI_THREAD_SINGLE`.
fn level_cost(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    const COST: f64 = 1.15;
    for size in [0, 8] {
        targets.push(figures.against_own(
            &format!("latency {}, MULTIPLE against SINGLE", size_name(size)),
            &Key::new("latency", MULTIPLE, size),
            &Key::new("latency", SINGLE, size),
            Bound::AtMost,
            COST,
        ));
    }
    targets.push(figures.against_own(
        "message rate 8 B, MULTIPLE against SINGLE",
        &Key::new("rate", MULTIPLE, 8),
        &Key::new("rate", SINGLE, 8),
        Bound::AtLeast,
        1.0 / COST,
    ));
}

fn footprint(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    let key = |bench: &str, op: &str| Key { op: op.to_owned(), ranks: 16, ..Key::new(bench, MULTIPLE, 0) };
    let memory = [
        ("pss-idle", "memory of an idle process of 16, its share of shared memory included"),
        ("rss-idle", "the same, shared memory counted fully"),
    ];
    for (op, what) in memory {
        targets.push(figures.absolute(what, figures.value(&key("memory", op)), Bound::AtMost, 32.0, "MiB"));
    }
    let startup = figures.value(&key("startup", "init"));
    targets.push(figures.absolute("start-up of 16 processes", startup, Bound::AtMost, 1.0, "s"));
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::{Key, MULTIPLE, Row, SINGLE, Verdict, best_peer, check, number};
    use crate::bench::record::Figure;

    /// A row in which every slowest thread has a share of 0.4.
    pub(crate) fn row(key: Key, unit: &str, values: &[(&str, f64)]) -> Row {
        let figure = |median| Figure {
            median,
            low: median,
            high: median,
            rounds: 5,
            disturbed: 0,
            calm: None,
            share_min: Some(0.4),
            more: BTreeMap::new(),
            probe_ns: None,
        };
        let figures: BTreeMap<String, Figure> =
            values.iter().map(|&(name, value)| (name.to_owned(), figure(value))).collect();
        Row { key, unit: unit.to_owned(), figures }
    }

    /// The verdict on the target whose text begins so.
    pub(crate) fn verdict(rows: &[Row], what: &str) -> Verdict {
        check(rows).iter().find(|target| target.what.starts_with(what)).expect("no such target").verdict
    }

    #[test]
    fn latency_is_compared_with_the_fastest_peer_at_single() {
        let peers = row(Key::new("latency", SINGLE, 8), "us", &[("a", 0.2), ("b", 0.1), ("heddle", 0.01)]);
        let with = |us| [peers.clone(), row(Key::new("latency", MULTIPLE, 8), "us", &[("heddle", us)])];
        assert_eq!(verdict(&with(0.079), "latency 8 B, MULTIPLE, against"), Verdict::Pass);
        assert_eq!(verdict(&with(0.081), "latency 8 B, MULTIPLE, against"), Verdict::Fail);
        assert_eq!(verdict(&with(0.079), "latency 0 B"), Verdict::NotMeasured);
    }

    #[test]
    fn other_models_of_heddle_are_no_peers() {
        let row = row(Key::new("rate", SINGLE, 8), "msg/s", &[("heddle:x", 9.0), ("a", 1.0), ("b", 2.0)]);
        assert_eq!(best_peer(&row), Some(("b", 2.0)));
    }

    #[test]
    fn nothing_measured_passes_nothing() {
        assert!(check(&[]).iter().all(|target| target.verdict == Verdict::NotMeasured));
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<String> = [19_400_000.0, 18_607.0, 0.108, 1.5].into_iter().map(number).collect();
        assert_eq!(shown, ["19.40M", "18.6k", "0.108", "1.50"]);
    }
}
