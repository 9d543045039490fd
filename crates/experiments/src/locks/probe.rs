//! The time that a cache line takes from one core to another and back, at this moment. It changes from minute
//! to minute, above all on virtual machines, and every contended figure changes with it.

use std::time::Duration;

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{clock, hint};
use heddle_sync::CachePadded;

use super::team::{self, Until};
use crate::harness::rounds::median;

/// Round trips of a batch.
const BATCH: u64 = 50;
/// The number of batches that is enough.
const BATCHES: usize = 40;
/// If other programs hold a core, the answer may take their whole time slice: then the probe ends
/// with the batches it has.
const LIMIT: Duration = Duration::from_millis(30);

/// Nanoseconds of a round trip: the median of some short batches; `None` if the two threads hardly met.
pub(crate) fn round_trip_ns() -> Option<f64> {
    let ball = CachePadded::new(AtomicU64::new(0));
    let outcome = team::run(2, Until::Time(LIMIT), |number, turns| {
        let mut batches = Vec::with_capacity(BATCHES);
        let mut turn = number as u64;
        let mut start = clock::ticks();
        while batches.len() < BATCHES && turns.next() {
            if ball.load(Ordering::Acquire) != turn {
                hint::spin_loop();
                continue;
            }
            ball.store(turn + 1, Ordering::Release);
            turn += 2;
            if (turn / 2).is_multiple_of(BATCH) {
                let now = clock::ticks();
                batches.push(clock::ticks_to_ns(now.wrapping_sub(start)) as f64 / BATCH as f64);
                start = now;
            }
        }
        batches
    });
    median(outcome.results.into_iter().next()?.into_iter())
}
