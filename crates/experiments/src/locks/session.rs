//! A run of locks: how a lock takes a cell, an experiment with a number of threads. Results are on disk after
//! every round.

use std::path::PathBuf;

use super::contender::Contender;
use super::experiments::{LockExperiment, Sample};
use super::record::{LockMeasurement, LockResults, summarise};
use super::team::TeamEffort;
use super::{probe, targets};
use crate::error::BenchError;
use crate::harness::alternation::{Alternation, Benchmark, Outcome};
use crate::harness::folder::save;
use crate::harness::interrupts::Interrupts;
use crate::harness::load::LoadMeter;
use crate::report::target::CheckResult;

/// A run of locks.
pub(super) struct LockSession<'a> {
    effort: TeamEffort,
    locks: &'a [&'static Contender],
    results: LockResults,
    file: PathBuf,
    /// The cell that the locks are at.
    cell: Option<Cell>,
}

/// A case in a round. A lock's turn is too short to measure its load; it is that of all turns together.
struct Cell {
    probe_ns: Option<f64>,
    meter: LoadMeter,
    samples: Vec<(&'static str, Sample)>,
}

impl<'a> LockSession<'a> {
    /// A run of `locks`, whose record is written to `file` after every round.
    pub(super) fn new(
        effort: TeamEffort,
        locks: &'a [&'static Contender],
        results: LockResults,
        file: PathBuf,
    ) -> Self {
        Self { effort, locks, results, file, cell: None }
    }

    /// Makes all rounds over the cells, and returns the record.
    ///
    /// # Errors
    ///
    /// If the record cannot be written, or Ctrl-C cannot be watched.
    pub(super) fn run(mut self, cells: Vec<(LockExperiment, usize)>) -> Result<LockResults, BenchError> {
        let all = Alternation { rounds: self.results.rounds, cases: cells, systems: self.locks.to_vec() };
        self.results.run.complete = !all.run(&mut self, &Interrupts::take_over(|| ())?)?;
        self.save()?;
        Ok(self.results)
    }

    /// Brings the medians up to date and writes the file.
    fn save(&mut self) -> Result<(), BenchError> {
        self.results.summary = summarise(&self.results.measurements);
        let all = targets::check(&self.results.summary, self.locks, self.results.run.machine.cores);
        // A figure that this run did not measure has no target.
        self.results.targets =
            all.into_iter().filter(|target| target.verdict != CheckResult::NotMeasured).collect();
        save(&self.results, &self.file)
    }
}

impl Benchmark for LockSession<'_> {
    type Case = (LockExperiment, usize);
    type System = &'static Contender;
    const TURNS: &'static str = "measurements";

    fn case_name(&self, (experiment, threads): &Self::Case) -> String {
        format!("{}, {threads} threads", experiment.name())
    }

    fn system_name(&self, lock: &Self::System) -> String {
        lock.name.to_owned()
    }

    fn case_begins(&mut self) {
        let probe_ns = probe::round_trip_ns();
        self.cell = Some(Cell { probe_ns, meter: LoadMeter::start(), samples: Vec::new() });
    }

    fn measure(
        &mut self,
        _: u32,
        &(experiment, threads): &Self::Case,
        lock: &Self::System,
    ) -> Result<Outcome, BenchError> {
        // An experiment may make no sense for a lock.
        if let Some(sample) = lock.measure(experiment, threads, &self.effort)
            && let Some(cell) = &mut self.cell
        {
            cell.samples.push((lock.name, sample));
        }
        Ok(Outcome::Measured)
    }

    fn case_ends(&mut self, round: u32, &(experiment, threads): &Self::Case) {
        let Some(Cell { probe_ns, meter, samples }) = self.cell.take() else { return };
        let load = meter.finish();
        self.results.measurements.extend(samples.into_iter().map(|(lock, Sample(figures))| {
            LockMeasurement {
                experiment,
                threads,
                lock: lock.to_owned(),
                round,
                load,
                probe_ns,
                figures: figures.into_iter().collect(),
            }
        }));
    }

    fn round_ends(&mut self) -> Result<(), BenchError> {
        self.save()
    }
}
