//! The rank of this process, and the size of its job.

use crate::builtin::env::Contract;
use crate::pmi;
use crate::{BootstrapError, Job, JobControl, Mechanism};
use std::os::fd::AsRawFd;

/// The rank of this process among those it was started with.
#[derive(Debug)]
pub struct World {
    rank: u32,
    size: u32,
    appnum: Option<u32>,
    job: Option<Job>,
}

impl World {
    /// Joins the job that the environment describes. Without the variables of any mechanism it is a world of
    /// one.
    ///
    /// # Errors
    /// When a mechanism's variables are there but wrong, or absent although the mechanism was asked for, or
    /// when its job cannot be reached.
    pub fn from_env(mechanism: Mechanism) -> Result<Self, BootstrapError> {
        let tries = |one| mechanism == Mechanism::Auto || mechanism == one;
        if tries(Mechanism::Builtin)
            && let Some(contract) = Contract::read(std::env::var_os)?
        {
            return Self::join(&contract);
        }
        if tries(Mechanism::Pmi)
            && let Some(contract) = pmi::Contract::read(std::env::var_os)?
        {
            let (job, appnum) = pmi::join(contract)?;
            return Ok(Self { rank: contract.rank, size: contract.size, appnum, job: Some(job) });
        }
        match mechanism.variable() {
            Some(name) => Err(BootstrapError::NotStarted { mechanism: mechanism.name(), name }),
            None => Ok(Self { rank: 0, size: 1, appnum: None, job: None }),
        }
    }

    /// Joins the job that the contract describes.
    fn join(contract: &Contract) -> Result<Self, BootstrapError> {
        let job = Job::open(contract)?;
        Ok(Self { rank: contract.rank, size: contract.size, appnum: contract.appnum, job: Some(job) })
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

    /// The memory that this process shares with the other ranks, and with Heddle's launcher; absent in a
    /// world of one that was started without a launcher.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }
}

impl JobControl {
    /// The calling process as a rank of the job, without an environment that says so: several ranks can
    /// be played by one process.
    ///
    /// # Errors
    /// The error of the system call.
    ///
    /// # Panics
    /// When there is no such rank.
    pub fn world_of(&self, rank: u32) -> Result<World, BootstrapError> {
        let size = self.size();
        assert!(rank < size, "rank {rank} is not in a job of {size} ranks");
        let job_fd = self.fd().as_raw_fd();
        World::join(&Contract { rank, size, appnum: None, job_fd, job_path: None })
    }
}
