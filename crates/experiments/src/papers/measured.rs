//! The figures of an experiment, asked for by a system's label, a view and a number of threads, and what a
//! comparison finds in them.

use super::system::{DEFAULT, Form, System};
use super::view::{Quantity, View};
use crate::bench::figures::best_peer;
use crate::bench::library::HEDDLE;
use crate::bench::record::{Figure, Row};
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
        match self.systems.iter().find(|system| system.label == label) {
            Some(System { form: Form::Alone, settings, .. }) => (*settings).to_owned(),
            Some(system) => format!("{HEDDLE}:{}", system.settings),
            None => label.to_owned(),
        }
    }

    /// A system's quantity at a place of the view's axis.
    pub(super) fn at(&self, label: &str, view: &View, place: u32) -> Option<f64> {
        Some(self.point(label, view, u64::from(place))?.0)
    }

    /// The same with its interval.
    pub(super) fn point(&self, label: &str, view: &View, place: u64) -> Option<Point> {
        let name = self.name(label);
        let rows = self.rows.iter().filter(|row| view.takes(row) && view.place(&row.key) == place);
        rows.filter_map(|row| self.of_row(view, row, &name)).next()
    }

    /// Returns true if the figure of a participant at a place comes mostly from disturbed rounds.
    pub(super) fn doubtful(&self, name: &str, view: &View, place: u64) -> bool {
        let rows = self.rows.iter().filter(|row| view.takes(row) && view.place(&row.key) == place);
        rows.filter_map(|row| row.figures.get(name)).next().is_some_and(Figure::doubtful)
    }

    /// The best of the other libraries at a place, and its quantity. Where locks are by themselves, there
    /// is no library beside them.
    pub(super) fn best_peer(&self, view: &View, place: u64) -> Option<(String, Point)> {
        if self.systems.iter().any(|system| system.form == Form::Alone) {
            return None;
        }
        let mut rows = self.rows.iter().filter(|row| view.takes(row) && view.place(&row.key) == place);
        rows.find_map(|row| {
            let (name, _) = best_peer(row)?;
            Some((name.to_owned(), self.of_row(view, row, name)?))
        })
    }

    /// The quantity of a participant in a row.
    fn of_row(&self, view: &View, row: &Row, name: &str) -> Option<Point> {
        let (value, interval) = view.of(&row.key, row.figures.get(name)?)?;
        match view.shows {
            Quantity::Over(label) => {
                let reference = row.figures.get(&self.name(label))?.median;
                (reference > 0.0).then_some((value / reference, None))
            }
            _ => Some((value, interval)),
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Measured;
    use crate::bench::record::{Key, Line, Measurement, summarise};
    use crate::harness::load::Load;
    use crate::papers::system::{System, alone, paper};
    use crate::papers::view::{Along, Quantity, View};

    const SYSTEMS: [System; 3] = [paper("A", "m-a"), paper("B", "m-b"), alone("C", "lock-c")];
    const RATE: View =
        View { title: "rate", bench: "rate", op: "isend", shows: Quantity::Value, along: Along::Threads };

    #[test]
    fn a_figure_over_another_systems() {
        let values = BTreeMap::from([("heddle:m-a", 2.0), ("heddle:m-b", 3.0), ("lock-c", 1.0)]);
        let key = Key::new("rate", "multiple", 8);
        let measured = values.into_iter().map(|(library, value)| Measurement {
            library: library.to_owned(),
            round: 1,
            load: Load { others: 0.5, stolen: 0.0 },
            line: Line::of_program(key.clone(), "1".to_owned(), value, "msg/s", &[]),
        });
        let rows = summarise(&measured.collect::<Vec<_>>());
        let m = Measured { systems: &SYSTEMS, rows: &rows };
        let over = RATE.showing("over A", Quantity::Over("A"));
        assert_eq!(
            [m.at("A", &over, 1), m.at("B", &over, 1), m.at("C", &over, 1)],
            [1.0, 1.5, 0.5].map(Some)
        );
        assert_eq!(m.best_peer(&RATE, 1), None, "C is no library");
        assert_eq!(m.at("B", &RATE.showing("over D", Quantity::Over("D")), 1), None);
        assert!(m.doubtful(&m.name("B"), &RATE, 1) && !m.doubtful("nobody", &RATE, 1));
    }
}
