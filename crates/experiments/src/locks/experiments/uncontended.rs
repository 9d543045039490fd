//! One thread alone: the price of an uncontended lock.

use std::hint::black_box;
use std::sync::mpsc::channel;

use heddle_platform::clock;

use super::sample::{Metric, Sample};
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::TeamEffort;

/// Nanoseconds of a critical section that adds one.
pub(super) fn measure<K: GuardKind>(effort: &TeamEffort) -> Sample {
    let guarded = K::guard(0_u64);
    // A second thread sleeps: glibc leaves out atomic instructions while there is only one thread.
    let (done, asleep) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || asleep.recv().unwrap_or(()));
        run(&guarded, effort.iterations / 8);
        let ns = run(&guarded, effort.iterations);
        drop(done);
        Sample(vec![(Metric::CostNs, ns)])
    })
}

#[inline(never)]
fn run(guarded: &impl Guarded<u64>, iterations: u64) -> f64 {
    let start = clock::now_ns();
    for _ in 0..iterations {
        guarded.with(|number| *number = black_box(*number + 1));
    }
    (clock::now_ns() - start) as f64 / iterations.max(1) as f64
}
