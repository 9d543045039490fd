//! How many parts of a joint request are missing.

use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicU32, Ordering};

/// Counts down the parts that are missing.
#[derive(Debug)]
pub struct Missing(AtomicU32);

impl Missing {
    /// All of `parts` parts are missing.
    pub fn new(parts: u32) -> Missing {
        Missing(AtomicU32::new(parts))
    }

    /// A part is over, and what came of it stands in its place. True for the last one, whose thread sees all places.
    pub fn is_last(&self) -> bool {
        // AcqRel: who counts last sees what the others have left.
        let order = if planted(Fault::JointRelaxedCount) { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0.fetch_sub(1, order) == 1
    }
}
