//! The tries that a test skips after it was refused (Amer et al., ICS 2019: LockQ).
//!
//! A thread that tests in a loop while another thread is inside would try the critical section at every turn,
//! and take the lock's line of memory from the thread inside each time. So it skips a try after the first
//! refusal, two after the second, and so on, at most `MOST`; the first try that succeeds ends that. The
//! number is bounded, and skipped tries need no other thread to come to an end, so a thread that goes on
//! testing always tries again.

use std::cell::Cell;

/// The largest number of tries that a thread skips in a row.
const MOST: u32 = 1024;

/// The backoff of one thread from one critical section.
#[derive(Debug)]
pub(super) struct Backoff {
    /// The number of tries that are skipped after the next refusal.
    next: Cell<u32>,
    /// The number of tries that are still to be skipped.
    left: Cell<u32>,
}

impl Backoff {
    pub(super) const fn new() -> Backoff {
        Backoff { next: Cell::new(1), left: Cell::new(0) }
    }

    /// Returns true if this try is skipped.
    pub(super) fn skips(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left != 0
    }

    /// Notes that a try was refused.
    pub(super) fn refused(&self) {
        let skipped = self.next.get();
        self.left.set(skipped);
        self.next.set((2 * skipped).min(MOST));
    }

    /// Notes that a try has succeeded.
    pub(super) fn entered(&self) {
        self.next.set(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of tries skipped after a refusal.
    fn skipped(backoff: &Backoff) -> u32 {
        backoff.refused();
        (0..).take_while(|_| backoff.skips()).count() as u32
    }

    #[test]
    fn refusals_double_the_skipped_tries_up_to_a_bound_and_an_entry_ends_them() {
        let backoff = Backoff::new();
        assert!(!backoff.skips(), "no refusal, no skip");
        for round in 0..20 {
            assert_eq!(skipped(&backoff), MOST.min(1 << round));
        }
        backoff.entered();
        assert!(!backoff.skips());
        assert_eq!(skipped(&backoff), 1);
    }
}
