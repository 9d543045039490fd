//! A statement, its verdict, and the figures that it is about.

use super::super::cases::{SimulatedFigure, SimulatedRow, SimulatedSubject};
use crate::report::verdict::Verdict;
use serde::Serialize;

/// A statement of the paper.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SimulatedStatement {
    /// Where it stands.
    pub(crate) section: &'static str,
    /// Its text.
    pub(crate) paper: &'static str,
    /// The figure of the simulation.
    pub(crate) simulated: String,
    /// How far the two agree.
    pub(crate) verdict: Verdict,
}

/// The rows, to be asked for figures.
pub(super) struct SimulatedRows<'a>(pub(super) &'a [SimulatedRow]);

impl SimulatedRows<'_> {
    pub(super) fn row(
        &self,
        figure: SimulatedFigure,
        subject: SimulatedSubject,
        series: &str,
        processes: usize,
        percent: f64,
    ) -> Option<&SimulatedRow> {
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
        figure: SimulatedFigure,
        subject: SimulatedSubject,
        series: &str,
        p: usize,
        percent: f64,
    ) -> Option<f64> {
        self.row(figure, subject, series, p, percent).map(|row| row.throughput)
    }

    /// The numbers of processes of a figure, those of at least `least`.
    pub(super) fn processes(&self, figure: SimulatedFigure, least: usize) -> Vec<usize> {
        let rows = self.0.iter().filter(|row| row.figure == figure && row.processes >= least);
        let mut processes: Vec<usize> = rows.map(|row| row.processes).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}
