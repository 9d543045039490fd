//! How a process waits between two looks at a word of another process.
//!
//! Looks follow each other at once for a moment, then with yields in between, then with sleeps that become
//! longer: so a process that waits leaves its core to others where there are more processes than cores. Each
//! look calls MPI, which makes progress.

use heddle_platform::{clock, thread};
use std::time::Duration;

/// The looks that follow each other at once.
const EAGER_LOOKS: u32 = 8;
/// How long a process yields between its looks.
const YIELDING_NS: u64 = 200_000;
/// The first sleep.
const SHORTEST_NS: u64 = 10_000;
/// The longest sleep, and so how late a process may see that its wait is over.
const LONGEST_NS: u64 = 200_000;
/// After that time a wait for a while is given up.
pub(crate) const A_WHILE_NS: u64 = 100_000;

/// A wait that has begun.
#[derive(Debug)]
pub struct Pause {
    looks: u32,
    /// The time of the first yield, in nanoseconds of the clock.
    began_ns: u64,
    sleep_ns: u64,
}

impl Pause {
    /// Begins a wait.
    #[must_use]
    pub fn new() -> Pause {
        Pause { looks: 0, began_ns: 0, sleep_ns: SHORTEST_NS }
    }

    /// Passes the time until the next look.
    pub fn pass(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= EAGER_LOOKS {
            return;
        }
        if self.looks == EAGER_LOOKS + 1 {
            self.began_ns = clock::now_ns();
        }
        if self.lasted_ns() < YIELDING_NS {
            thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_nanos(self.sleep_ns));
            self.sleep_ns = (self.sleep_ns * 2).min(LONGEST_NS);
        }
    }

    /// How long it has lasted, without the first looks.
    #[must_use]
    pub fn lasted_ns(&self) -> u64 {
        if self.looks <= EAGER_LOOKS { 0 } else { clock::now_ns().saturating_sub(self.began_ns) }
    }
}

impl Default for Pause {
    fn default() -> Pause {
        Pause::new()
    }
}
