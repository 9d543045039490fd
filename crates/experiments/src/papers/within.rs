//! Measures within this process, where an experiment asks for it, as lines like those of the C program: the
//! lock-latency experiment of Amer et al. (TOPC 2019, Fig. 2a), and the queue of their slides (ICS 2019).

use std::collections::BTreeMap;
use std::time::Duration;

use super::experiment::{self, Experiment, Points};
use super::measured::Measured;
use crate::bench::case::{Beside, Effort};
use crate::bench::record::{Key, Line, Measurement};
use crate::error::BenchError;
use crate::harness::alternation::{Alternation, Benchmark, Failure, Outcome};
use crate::harness::interrupts::Interrupts;
use crate::harness::load::LoadMeter;
use crate::harness::record::VERSION;
use crate::locks::{LockExperiment, Metric, figure_of};

/// The papers' number of iterations in a second of our repetitions.
const ITERATIONS_A_SECOND: f64 = (1 << 22) as f64;

/// A quantity: its benchmark, form and unit, and the experiment and figure of `heddle bench locks`.
pub(super) struct MeasuredQuantity {
    pub(super) bench: &'static str,
    op: &'static str,
    unit: &'static str,
    pub(super) figure: (LockExperiment, Metric),
}

/// A thread's turn at a lock in the lock-latency experiment: threads over rate.
const LATENCY: MeasuredQuantity = MeasuredQuantity {
    bench: "lock",
    op: "lines",
    unit: "ns",
    figure: (LockExperiment::Lines, Metric::LatencyNs),
};
/// Enqueues and dequeues on one queue under a lock.
const QUEUE: MeasuredQuantity = MeasuredQuantity {
    bench: "queue",
    op: "fifo",
    unit: "op/s",
    figure: (LockExperiment::Fifo, Metric::Rate),
};

/// Locks, each by its name and its label.
type NamedLocks = &'static [(&'static str, &'static str)];

/// The subject that an experiment measures without MPI, and its locks; there may be none.
pub(super) fn subject(experiment: &Experiment) -> (MeasuredQuantity, NamedLocks) {
    match experiment.within {
        experiment::Within::Nothing | experiment::Within::Simulation(_) => (LATENCY, &[]),
        experiment::Within::Locks(locks) => (LATENCY, locks),
        experiment::Within::Queues(locks) => (QUEUE, locks),
    }
}

/// The name in records of the system with this label.
pub(super) fn name(experiment: &Experiment, label: &str) -> String {
    Measured { systems: experiment.systems, rows: &[] }.name(label)
}

/// Iterations that all threads share.
pub(super) fn iterations(effort: &Effort) -> u64 {
    (effort.seconds * ITERATIONS_A_SECOND) as u64
}

/// The figures that were measured within this process.
pub(super) struct MeasuredWithin {
    /// A measurement for each lock, number of threads and round.
    pub(super) measurements: Vec<Measurement>,
    /// The measurements that gave no figure.
    pub(super) failures: Vec<Failure>,
    /// False if the user interrupted.
    pub(super) complete: bool,
}

/// Measures the locks or the queues of an experiment, if it has any.
///
/// # Errors
///
/// Those of [`Alternation::run`].
pub(super) fn measure(
    experiment: &Experiment,
    points: &Points,
    effort: &Effort,
    interrupts: &Interrupts,
) -> Result<MeasuredWithin, BenchError> {
    let (subject, locks) = subject(experiment);
    let all = Alternation { rounds: effort.rounds, cases: points.threads.clone(), systems: locks.to_vec() };
    let mut session = WithinSession {
        subject,
        experiment,
        iterations: iterations(effort),
        limit: Duration::from_secs_f64(10.0 * effort.seconds),
        measurements: Vec::new(),
    };
    let complete = !all.run(&mut session, interrupts)?;
    Ok(MeasuredWithin { measurements: session.measurements, failures: Vec::new(), complete })
}

/// A run of locks. A case is a number of threads, and a system a lock with its label.
struct WithinSession<'a> {
    subject: MeasuredQuantity,
    experiment: &'a Experiment,
    iterations: u64,
    limit: Duration,
    measurements: Vec<Measurement>,
}

impl Benchmark for WithinSession<'_> {
    type Case = u32;
    type System = (&'static str, &'static str);
    const TURNS: &'static str = "measurements";

    fn case_name(&self, threads: &u32) -> String {
        format!("{}, {threads} threads", self.subject.bench)
    }

    fn system_name(&self, (lock, _): &Self::System) -> String {
        (*lock).to_owned()
    }

    fn measure(
        &mut self,
        round: u32,
        &threads: &u32,
        (lock, label): &Self::System,
    ) -> Result<Outcome, BenchError> {
        let meter = LoadMeter::start();
        let value = figure_of(lock, self.subject.figure, threads as usize, self.iterations, self.limit);
        self.measurements.push(Measurement {
            library: name(self.experiment, label),
            round,
            load: meter.finish(),
            line: line(&self.subject, threads, value),
        });
        Ok(Outcome::Measured)
    }
}

pub(super) fn line(subject: &MeasuredQuantity, threads: u32, value: Option<f64>) -> Line {
    Line {
        key: Key {
            bench: subject.bench.to_owned(),
            op: subject.op.to_owned(),
            level: "multiple".to_owned(),
            comms: "shared".to_owned(),
            ranks: 1,
            threads,
            size: 0,
            beside: Beside::Nothing,
        },
        version: VERSION.to_owned(),
        provided: "multiple".to_owned(),
        pinned: false,
        window: 0,
        value,
        calm: None,
        unit: subject.unit.to_owned(),
        reps: vec![value],
        share: None,
        more: BTreeMap::new(),
        wrong_bytes: 0,
        probe_ns: Vec::new(),
    }
}
