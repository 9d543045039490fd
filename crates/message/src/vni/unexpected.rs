//! The memory that unexpected messages take, and how a VNI keeps it within the bound
//! of `HEDDLE_UNEXPECTED_BYTES`.
//!
//! Each matching shard counts the bytes of its messages, within its critical section. It reports them to the
//! VNI's [`Throttle`] in steps, so that shards rarely touch a line that they share. When the bytes pass the
//! bound, the VNI throttles its senders: each of them offers its messages by rendezvous until the flag is
//! lowered (`send.rs`). A blocking send then waits for its receive, as the standard allows (MPI 5.0, section
//! 3.4). A receive that wants a later message still finds it, because the rings are read as ever.
//!
//! The bound does not cover the header of each message that was offered and is not matched yet. A program may
//! have many nonblocking sends in progress, and their headers must be stored.

use heddle_model::counters::{self, CountedEvent};
use heddle_transport::{FlagChange, Throttle};
use std::sync::Arc;

/// The number of reports that one shard makes while its bytes grow from 0 to the bound. The bytes that the up
/// to 64 shards of a VNI have not reported yet are an eighth of the bound at most.
const STEPS: usize = 512;

/// The bytes that the unexpected messages of one matching shard take.
#[derive(Debug)]
pub(crate) struct UnexpectedBytes {
    bytes: usize,
    /// The bytes that the throttle knows of.
    reported: usize,
    /// The bytes are reported when they rise above this number, or fall below the next one.
    most: usize,
    least: usize,
    step: usize,
    throttle: Arc<Throttle>,
}

impl UnexpectedBytes {
    /// Makes the count of a shard of the VNI that has the throttle.
    pub(crate) fn new(throttle: Arc<Throttle>) -> UnexpectedBytes {
        let step = throttle.bound() / STEPS;
        UnexpectedBytes { bytes: 0, reported: 0, most: step, least: 0, step, throttle }
    }

    /// Counts a message that was stored.
    #[inline(always)]
    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes > self.most {
            self.report();
        }
    }

    /// Counts a message that was taken.
    #[inline(always)]
    pub(crate) fn remove(&mut self, bytes: usize) {
        self.bytes -= bytes;
        if self.bytes < self.least {
            self.report();
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self) {
        let change = self.bytes.wrapping_sub(self.reported).cast_signed();
        self.reported = self.bytes;
        self.most = self.bytes.saturating_add(self.step);
        // The last message is always reported: a step may be larger than all that is left.
        self.least = self.bytes.saturating_sub(self.step).max(1).min(self.bytes);
        if self.throttle.add(change) == FlagChange::Raised {
            counters::count(CountedEvent::Throttle, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bootstrap::JobControl;
    use heddle_transport::Fabric;

    fn throttle(bound: usize) -> Arc<Throttle> {
        let world = JobControl::create(1).and_then(|job| job.world_of(0)).expect("a job of one");
        Arc::new(Fabric::attach(&world, 1).expect("a segment").throttle(0, bound))
    }

    #[test]
    fn the_throttle_follows_the_bytes_of_all_shards_within_a_step_each() {
        for bound in [0, 1, 100, 1 << 20] {
            for shards in [1, 64] {
                let throttle = throttle(bound);
                let mut all: Vec<_> = (0..shards).map(|_| UnexpectedBytes::new(throttle.clone())).collect();
                let slack = bound / 8;
                let mut bytes = 0;
                while bytes <= bound + slack {
                    assert!(bytes + slack >= bound || !throttle.is_raised(), "too early: {bytes}");
                    all[bytes % shards].add(112);
                    bytes += 112;
                }
                let count = bytes / 112;
                assert!(throttle.is_raised(), "{bound} bytes, {shards} shards");
                for (left, number) in (0..count).rev().zip(0..) {
                    assert!(
                        left * 112 + 112 <= bound / 2 + slack || throttle.is_raised(),
                        "too early: {left}"
                    );
                    all[number * 112 % shards].remove(112);
                }
                assert!(!throttle.is_raised(), "{bound} bytes, {shards} shards");
                assert!(all.iter().all(|shard| shard.bytes == 0 && shard.reported == 0));
            }
        }
    }
}
