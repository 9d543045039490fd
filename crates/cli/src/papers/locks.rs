//! Measures locks by themselves, where an experiment asks for it: the lock-latency experiment of Amer et al.
//! (TOPC 2019, Fig. 2a), as lines like those of the C program.

use std::time::Duration;

use super::experiment::{Experiment, Points};
use super::measured::Measured;
use crate::bench::case::Beside;
use crate::bench::case::Effort;
use crate::bench::record::{Key, Line, Measurement};
use crate::locks::lock_latency_ns;
use crate::report::load::LoadMeter;

/// The papers' number of iterations in a second of our repetitions.
const ITERATIONS_A_SECOND: f64 = (1 << 22) as f64;

/// A measurement for each lock, number of threads and round.
pub(super) fn measure(experiment: &Experiment, points: &Points, effort: &Effort) -> Vec<Measurement> {
    let names = Measured { systems: experiment.systems, rows: &[] };
    let iterations = (effort.seconds * ITERATIONS_A_SECOND) as u64;
    let limit = Duration::from_secs_f64(10.0 * effort.seconds);
    let mut measurements = Vec::new();
    for round in 1..=effort.rounds {
        for &threads in &points.threads {
            for turn in 0..experiment.locks.len() {
                let (lock, label) = experiment.locks[(turn + round as usize - 1) % experiment.locks.len()];
                let meter = LoadMeter::start();
                let latency = lock_latency_ns(lock, threads as usize, iterations, limit);
                measurements.push(Measurement {
                    library: names.name(label),
                    round,
                    load: meter.finish(),
                    line: line(threads, latency),
                });
            }
        }
    }
    measurements
}

fn line(threads: u32, latency: Option<f64>) -> Line {
    Line {
        key: Key {
            bench: "lock".to_owned(),
            op: "lines".to_owned(),
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
        value: latency,
        calm: None,
        unit: "ns".to_owned(),
        reps: vec![latency],
        share: None,
        more: std::collections::BTreeMap::new(),
        wrong_bytes: 0,
        probe_ns: Vec::new(),
    }
}
