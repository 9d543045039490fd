//! The lock-latency experiment of Amer, Archer, Blocksom, Cao, Chuvelev, Fujita, Garzaran, Guo, Hammond,
//! Iwasaki, Raffenetti, Shiryaev, Si, Taura, Thapaliya and Balaji, *Lock contention management in
//! multithreaded MPI* (ACM TOPC, 2019), Fig. 2a: a thread acquires the lock, touches ten random cache lines
//! and releases it; 2^22 iterations, shared out among the threads as they come.
//!
//! The lines are chosen from 64: few enough to stay in the nearest cache, so that the experiment measures
//! their transfer from core to core and not the size of the caches. To touch is to write.

use super::random::Random;
use super::sample::{Metric, Sample};
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::{self, TeamEffort, Until};

/// Lines to choose from; a power of two.
const LINES: usize = 64;
/// Lines touched in a critical section.
const TOUCHED: u32 = 10;
const _: () = assert!(TOUCHED * LINES.trailing_zeros() <= u64::BITS, "one random word chooses all lines");

/// A cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct CacheLine(u64);

/// Rate and latency, from `effort.iterations` iterations.
pub(super) fn measure<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    let guarded = K::guard(Box::new([CacheLine::default(); LINES]));
    let until = Until::Iterations(effort.iterations, effort.limit);
    let outcome = team::run(threads, until, |number, turns| {
        let mut random = Random::of_thread(number);
        while turns.next() {
            let choice = random.next();
            guarded.with(|lines| touch(lines, choice));
        }
        turns.done()
    });
    let mut sample = Sample::of_rates(&outcome)?;
    let done: u64 = outcome.results.iter().sum();
    sample.0.push((Metric::LatencyNs, outcome.seconds * 1e9 * threads as f64 / done as f64));
    Some(sample)
}

#[inline(always)]
fn touch(lines: &mut [CacheLine; LINES], mut choice: u64) {
    for _ in 0..TOUCHED {
        let line = &mut lines[choice as usize % LINES];
        line.0 = line.0.wrapping_add(choice);
        choice /= LINES as u64;
    }
}
