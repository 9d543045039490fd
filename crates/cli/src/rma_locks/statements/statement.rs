//! A statement, its verdict, and the figures that it is about.

use super::super::cases::{Figure, Row, Subject};
use serde::Serialize;

/// A statement of the paper.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Statement {
    /// Where it stands.
    pub(crate) section: &'static str,
    /// Its text.
    pub(crate) paper: &'static str,
    /// The figure of the simulation.
    pub(crate) simulated: String,
    /// How far the two agree.
    pub(crate) verdict: Verdict,
}

/// How the simulation stands to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The same; a factor to within a factor of 2.
    Agrees,
    /// The same direction, with another factor or not everywhere.
    InPart,
    /// Something else.
    Differs,
}

impl Verdict {
    pub(super) fn of(agrees: bool) -> Verdict {
        if agrees { Verdict::Agrees } else { Verdict::Differs }
    }

    /// Of a statement about many cases, some of which are otherwise.
    pub(super) fn of_cases(otherwise: usize, all: usize) -> Verdict {
        match otherwise {
            0 => Verdict::Agrees,
            some if 2 * some < all => Verdict::InPart,
            _ => Verdict::Differs,
        }
    }

    /// Compares a factor; one below 1 is the other direction.
    pub(super) fn of_factor(value: f64, wanted: f64) -> Verdict {
        if is_about(value, wanted) {
            Verdict::Agrees
        } else if value > 1.1 {
            Verdict::InPart
        } else {
            Verdict::Differs
        }
    }
}

/// The rows, to be asked for figures.
pub(super) struct Figures<'a>(pub(super) &'a [Row]);

impl Figures<'_> {
    pub(super) fn row(
        &self,
        figure: Figure,
        subject: Subject,
        series: &str,
        processes: usize,
        percent: f64,
    ) -> Option<&Row> {
        self.0.iter().find(|row| {
            row.figure == figure
                && row.subject == subject
                && row.series == series
                && row.processes == processes
                && row.writers_percent == percent
        })
    }

    pub(super) fn throughput(
        &self,
        figure: Figure,
        subject: Subject,
        series: &str,
        p: usize,
        percent: f64,
    ) -> Option<f64> {
        self.row(figure, subject, series, p, percent).map(|row| row.throughput)
    }

    /// The numbers of processes of a figure, those of at least `least`.
    pub(super) fn processes(&self, figure: Figure, least: usize) -> Vec<usize> {
        let rows = self.0.iter().filter(|row| row.figure == figure && row.processes >= least);
        let mut processes: Vec<usize> = rows.map(|row| row.processes).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}

pub(super) fn is_about(value: f64, wanted: f64) -> bool {
    value >= wanted / 2.0 && value <= wanted * 2.0
}
