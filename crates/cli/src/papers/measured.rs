//! The figures of an experiment, asked for by a system's label, a view and a number of threads, and what a
//! comparison finds in them.

use super::system::{DEFAULT, System};
use super::view::View;
use crate::bench::figures::best_peer;
use crate::bench::library::HEDDLE;
use crate::bench::record::Row;
use crate::report::target::number;
use crate::report::verdict::Verdict;

/// The figures of an experiment.
pub(super) struct Measured<'a> {
    /// The systems of the experiment.
    pub(super) systems: &'a [System],
    /// The medians.
    pub(super) rows: &'a [Row],
}

/// A label and its quantity.
type Labelled<'l> = (&'l str, f64);

/// A median and the interval in which it lies.
pub(super) type Point = (f64, Option<(f64, f64)>);

impl Measured<'_> {
    /// The name in the record of the system with this label.
    pub(super) fn name(&self, label: &str) -> String {
        if label == DEFAULT {
            return HEDDLE.to_owned();
        }
        let system = self.systems.iter().find(|system| system.label == label);
        system.map_or(label.to_owned(), |system| format!("{HEDDLE}:{}", system.settings))
    }

    /// A system's quantity at a place of the view's axis.
    pub(super) fn at(&self, label: &str, view: &View, place: u32) -> Option<f64> {
        Some(self.point(label, view, u64::from(place))?.0)
    }

    /// The same with its interval.
    pub(super) fn point(&self, label: &str, view: &View, place: u64) -> Option<Point> {
        let name = self.name(label);
        let rows = self.rows.iter().filter(|row| view.takes(row) && view.place(&row.key) == place);
        rows.filter_map(|row| view.of(&row.key, row.figures.get(&name)?)).next()
    }

    /// The best of the other libraries at a place, and its quantity.
    pub(super) fn best_peer(&self, view: &View, place: u64) -> Option<(String, Point)> {
        let mut rows = self.rows.iter().filter(|row| view.takes(row) && view.place(&row.key) == place);
        rows.find_map(|row| {
            let (name, _) = best_peer(row)?;
            Some((name.to_owned(), view.of(&row.key, row.figures.get(name)?)?))
        })
    }

    /// The places at which the view has figures, ascending.
    pub(super) fn places(&self, view: &View) -> Vec<u64> {
        let mut places: Vec<u64> =
            self.rows.iter().filter(|row| view.takes(row)).map(|row| view.place(&row.key)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// One system's quantity over another's, at the same place.
    pub(super) fn ratio(&self, view: &View, one: &str, other: &str, place: u32) -> Option<f64> {
        Some(self.at(one, view, place)? / self.at(other, view, place)?)
    }

    /// A system's quantity at `place` over that at an earlier place.
    pub(super) fn growth(&self, view: &View, label: &str, from: u32, place: u32) -> Option<f64> {
        Some(self.at(label, view, place)? / self.at(label, view, from)?)
    }

    /// The labels with the least and the greatest quantity among some.
    pub(super) fn extremes<'l>(
        &self,
        view: &View,
        labels: &[&'l str],
        place: u32,
    ) -> Option<(Labelled<'l>, Labelled<'l>)> {
        let values: Option<Vec<(&str, f64)>> =
            labels.iter().map(|label| Some((*label, self.at(label, view, place)?))).collect();
        let values = values?;
        let least = values.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let most = values.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((least, most))
    }

    /// A list of the systems' quantities, for a statement's figures.
    pub(super) fn list(&self, view: &View, labels: &[&str], place: u32) -> String {
        let one =
            |label: &&str| self.at(label, view, place).map(|value| format!("{label} {}", number(value)));
        labels.iter().filter_map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The result of a comparison.
pub(super) struct Finding {
    /// The figures.
    pub(super) here: String,
    /// The verdict on the statement.
    pub(super) verdict: Verdict,
}

/// A finding: the figures, and whether the statement is true of them.
pub(super) fn finding(here: String, verdict: Verdict) -> Option<Finding> {
    Some(Finding { here, verdict })
}
