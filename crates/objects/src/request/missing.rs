//! The number of parts of a joint request that are not complete.

use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicU32, Ordering};

/// Counts down the incomplete parts. Any thread may call this.
#[derive(Debug)]
pub struct Missing(AtomicU32);

impl Missing {
    /// A count of `parts` incomplete parts.
    pub fn new(parts: u32) -> Missing {
        Missing(AtomicU32::new(parts))
    }

    /// Counts a part whose outcome the caller has written. True for the last part; its thread then sees all
    /// outcomes.
    pub fn is_last(&self) -> bool {
        // AcqRel: the thread that counts last sees the outcomes that the others wrote.
        let order = if planted(Fault::JointRelaxedCount) { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0.fetch_sub(1, order) == 1
    }
}
