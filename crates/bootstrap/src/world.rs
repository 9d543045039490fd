//! The rank of this process, and the size of its job.

use crate::builtin::env::Contract;
use crate::{BootstrapError, Job, JobControl, LocalRanks};
use std::os::fd::AsRawFd;

/// The rank of this process among those it was started with.
#[derive(Debug)]
pub struct World {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) appnum: Option<u32>,
    pub(crate) job: Option<Job>,
    pub(crate) local: LocalRanks,
}

impl World {
    /// Joins the job that the contract describes.
    pub(crate) fn join(contract: &Contract) -> Result<Self, BootstrapError> {
        let job = Job::open(contract)?;
        let Contract { rank, size, appnum, .. } = *contract;
        Ok(Self { rank, size, appnum, job: Some(job), local: LocalRanks::all(size) })
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

    /// The ranks that run on this process's machine, this one among them.
    #[must_use]
    pub fn local_ranks(&self) -> &LocalRanks {
        &self.local
    }

    /// Returns true if there are ranks on other machines.
    #[must_use]
    pub fn spans_machines(&self) -> bool {
        self.local.len() < self.size as usize
    }

    /// The memory that this process shares with the [local ranks](Self::local_ranks), and with Heddle's
    /// launcher; absent in a world of one that was started without a launcher.
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
