//! The figures of a run, found by key, and compared.

use super::library::{HEDDLE, Library};
use super::record::{Figure, Key, Row};
use crate::report::target::{Bound, Target, number};

/// Name of the lowest thread level.
pub(crate) const SINGLE: &str = "single";
/// Name of the highest.
pub(crate) const MULTIPLE: &str = "multiple";
/// The two kinds of communicators.
pub(crate) const COMMS: [&str; 2] = ["shared", "per-thread"];
/// True if smaller figures of this unit are better.
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

/// The rows of a run, found by key.
pub(crate) struct Figures<'a>(&'a [Row]);

impl<'a> Figures<'a> {
    /// The figures of a run.
    pub(crate) fn of(rows: &'a [Row]) -> Self {
        Self(rows)
    }

    fn row(&self, key: &Key) -> Option<&Row> {
        self.0.iter().find(|row| row.key == *key)
    }

    /// Heddle's figure at a key.
    pub(crate) fn heddle(&self, key: &Key) -> Option<&Figure> {
        self.row(key)?.figures.get(HEDDLE)
    }

    /// The median of Heddle's figure under a model that was measured besides the default (`--models`).
    pub(crate) fn value_under(&self, model: &str, key: &Key) -> Option<f64> {
        Some(self.row(key)?.figures.get(&format!("{HEDDLE}:{model}"))?.median)
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

    /// Heddle's figure at `key` against Heddle's at `other`, times `factor`.
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
