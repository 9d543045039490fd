//! Measures within this process, where an experiment asks for it, as lines like those of the C program: the
//! lock-latency experiment of Amer et al. (TOPC 2019, Fig. 2a), and the queue of their slides (ICS 2019).

use std::collections::BTreeMap;
use std::time::Duration;

use super::experiment::{Experiment, Points, Within};
use super::measured::Measured;
use crate::bench::case::{Beside, Effort};
use crate::bench::record::{Key, Line, Measurement};
use crate::locks::{fifo_rate, lock_latency_ns};
use crate::report::load::LoadMeter;

/// The papers' number of iterations in a second of our repetitions.
const ITERATIONS_A_SECOND: f64 = (1 << 22) as f64;

/// A quantity: its benchmark, form and unit, and what measures it by a lock's name, threads, iterations and
/// the longest time.
struct Subject {
    bench: &'static str,
    op: &'static str,
    unit: &'static str,
    measure: fn(&str, usize, u64, Duration) -> Option<f64>,
}

const LATENCY: Subject = Subject { bench: "lock", op: "lines", unit: "ns", measure: lock_latency_ns };
const QUEUE: Subject = Subject { bench: "queue", op: "fifo", unit: "op/s", measure: fifo_rate };

/// A measurement for each lock, number of threads and round.
pub(super) fn measure(experiment: &Experiment, points: &Points, effort: &Effort) -> Vec<Measurement> {
    let (subject, locks) = match experiment.within {
        Within::Nothing | Within::Simulation(_) => return Vec::new(),
        Within::Locks(locks) => (LATENCY, locks),
        Within::Queues(locks) => (QUEUE, locks),
    };
    let names = Measured { systems: experiment.systems, rows: &[] };
    let iterations = (effort.seconds * ITERATIONS_A_SECOND) as u64;
    let limit = Duration::from_secs_f64(10.0 * effort.seconds);
    let mut measurements = Vec::new();
    for round in 1..=effort.rounds {
        for &threads in &points.threads {
            for turn in 0..locks.len() {
                let (lock, label) = locks[(turn + round as usize - 1) % locks.len()];
                let meter = LoadMeter::start();
                let value = (subject.measure)(lock, threads as usize, iterations, limit);
                measurements.push(Measurement {
                    library: names.name(label),
                    round,
                    load: meter.finish(),
                    line: line(&subject, threads, value),
                });
            }
        }
    }
    measurements
}

fn line(subject: &Subject, threads: u32, value: Option<f64>) -> Line {
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
        version: env!("CARGO_PKG_VERSION").to_owned(),
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
