//! The properties of a window that is to be made, besides its memory.

use crate::algorithm::LockChoice;
use heddle_message::domain::Domain;

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
    /// The number by which processes of other machines name the window here; 0 if there are none.
    pub number: u64,
    /// The algorithm of its locks.
    pub lock: LockChoice,
}

impl Plan {
    /// Returns true if there is another process on this machine.
    pub(crate) fn has_neighbours(&self, domain: &Domain) -> bool {
        let is_local = |process: &&u32| domain.fabric().is_local(**process as usize);
        self.processes.iter().filter(is_local).count() > 1
    }

    /// The words of a window block that the plan's locks need.
    pub fn lock_words(&self) -> usize {
        self.lock.words(self.processes.len())
    }
}
