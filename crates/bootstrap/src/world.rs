//! Who this process is.

use crate::builtin;
use crate::{BootstrapError, Job};

/// The place of this process among those it was started with.
#[derive(Debug)]
pub struct World {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) appnum: Option<u32>,
    pub(crate) job: Option<Job>,
}

impl World {
    /// Asks the environment who this process is. Without the variables of any mechanism it is a world of one.
    ///
    /// # Errors
    /// When a mechanism's variables are there but wrong, or its job cannot be reached.
    pub fn from_env() -> Result<Self, BootstrapError> {
        match builtin::env::Contract::read(std::env::var_os)? {
            Some(contract) => builtin::join(&contract),
            None => Ok(Self { rank: 0, size: 1, appnum: None, job: None }),
        }
    }

    /// The rank of this process in `MPI_COMM_WORLD`.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks in `MPI_COMM_WORLD`.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Which of the programs on the launcher's command line this is (`MPI_APPNUM`), if a launcher said so.
    #[must_use]
    pub fn appnum(&self) -> Option<u32> {
        self.appnum
    }

    /// What this process shares with its launcher and the other ranks; absent in a world of one that was started
    /// without a launcher.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }
}
