//! Measures within this process, where an experiment asks for it, as lines like those of the C program: the
//! lock-latency experiment of Amer et al. (TOPC 2019, Fig. 2a), and the queue of their slides (ICS 2019).

use std::collections::BTreeMap;
use std::time::Duration;

use super::experiment::{self, Experiment, Points};
use super::measured::Measured;
use crate::bench::case::{Beside, Effort};
use crate::bench::record::{Key, Line, Measurement};
use crate::error::BenchError;
use crate::harness::alternation::{Alternation, Benchmark, Outcome};
use crate::harness::interrupts::Interrupts;
use crate::harness::load::LoadMeter;
use crate::harness::record::VERSION;
use crate::locks::{fifo_rate, lock_latency_ns};

/// The papers' number of iterations in a second of our repetitions.
const ITERATIONS_A_SECOND: f64 = (1 << 22) as f64;

/// A quantity: its benchmark, form and unit, and what measures it by a lock's name, threads, iterations and
/// the longest time.
struct MeasuredQuantity {
    bench: &'static str,
    op: &'static str,
    unit: &'static str,
    measure: fn(&str, usize, u64, Duration) -> Option<f64>,
}

const LATENCY: MeasuredQuantity =
    MeasuredQuantity { bench: "lock", op: "lines", unit: "ns", measure: lock_latency_ns };
const QUEUE: MeasuredQuantity =
    MeasuredQuantity { bench: "queue", op: "fifo", unit: "op/s", measure: fifo_rate };

/// The figures that were measured within this process.
pub(super) struct MeasuredWithin {
    /// A measurement for each lock, number of threads and round.
    pub(super) measurements: Vec<Measurement>,
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
    let (subject, locks) = match experiment.within {
        experiment::Within::Nothing | experiment::Within::Simulation(_) => (LATENCY, &[][..]),
        experiment::Within::Locks(locks) => (LATENCY, locks),
        experiment::Within::Queues(locks) => (QUEUE, locks),
    };
    let all = Alternation { rounds: effort.rounds, cases: points.threads.clone(), systems: locks.to_vec() };
    let mut session = WithinSession {
        subject,
        names: Measured { systems: experiment.systems, rows: &[] },
        iterations: (effort.seconds * ITERATIONS_A_SECOND) as u64,
        limit: Duration::from_secs_f64(10.0 * effort.seconds),
        measurements: Vec::new(),
    };
    let complete = !all.run(&mut session, interrupts)?;
    Ok(MeasuredWithin { measurements: session.measurements, complete })
}

/// A run of locks. A case is a number of threads, and a system a lock with its label.
struct WithinSession<'a> {
    subject: MeasuredQuantity,
    names: Measured<'a>,
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
        let value = (self.subject.measure)(lock, threads as usize, self.iterations, self.limit);
        self.measurements.push(Measurement {
            library: self.names.name(label),
            round,
            load: meter.finish(),
            line: line(&self.subject, threads, value),
        });
        Ok(Outcome::Measured)
    }
}

fn line(subject: &MeasuredQuantity, threads: u32, value: Option<f64>) -> Line {
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
