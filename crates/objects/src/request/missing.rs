//! The number of parts of a joint request that are not complete.

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
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
