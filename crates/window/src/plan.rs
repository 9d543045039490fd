//! The properties of a window that is to be made, besides its memory.

use crate::algorithm::LockChoice;

/// The properties of a window that is to be made, besides its memory.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The processes' ranks in the job.
    pub processes: Box<[u32]>,
    /// This process's number among them.
    pub rank: usize,
    /// True if displacements are addresses in attached regions.
    pub dynamic: bool,
    /// True if the memory is the program's, so that others may not be able to map it.
    pub private: bool,
    /// The algorithm of its locks.
    pub lock: LockChoice,
}

impl Plan {
    /// The words of a window block that the plan's locks need.
    pub fn lock_words(&self) -> usize {
        self.lock.words(self.processes.len())
    }
}
