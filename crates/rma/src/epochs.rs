//! Fences, groups of ranks, and locks by the constants of the standard.

use crate::object::Win;
use heddle_collective::{barrier, run};
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_spec::constants as mpi;

/// All assertions (MPI 5.0, section 12.5.5).
const ASSERTIONS: i32 = mpi::MPI_MODE_NOCHECK
    | mpi::MPI_MODE_NOSTORE
    | mpi::MPI_MODE_NOPUT
    | mpi::MPI_MODE_NOPRECEDE
    | mpi::MPI_MODE_NOSUCCEED;

fn check(assertions: i32) -> Result<()> {
    if assertions & !ASSERTIONS == 0 {
        return Ok(());
    }
    let message = format!("{assertions} is not a sum of MPI_MODE_ constants");
    Err(Error::new(mpi::MPI_ERR_ASSERT, message))
}

impl Win {
    /// `MPI_Win_fence`. Without preceding operations (`MPI_MODE_NOPRECEDE`) it still waits for all processes,
    /// unless nothing follows either.
    ///
    /// # Errors
    /// `MPI_ERR_ASSERT`, `MPI_ERR_RMA_SYNC`.
    pub fn fence(&self, assertions: i32) -> Result<()> {
        check(assertions)?;
        self.window.before_fence()?;
        run(&self.comm, barrier)?;
        self.window.after_fence(assertions & mpi::MPI_MODE_NOSUCCEED != 0);
        Ok(())
    }

    /// The ranks in the window of the members of a group.
    fn ranks(&self, group: &Group) -> Result<Vec<usize>> {
        let rank = |member| group.world_rank(member).and_then(|world| self.comm.group.rank_of(world));
        let ranks: Option<Vec<usize>> = (0..group.size()).map(rank).collect();
        ranks
            .ok_or_else(|| Error::new(mpi::MPI_ERR_GROUP, "the group has members that are not in the window"))
    }

    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// `MPI_ERR_ASSERT`, `MPI_ERR_GROUP`, `MPI_ERR_RMA_SYNC`.
    pub fn post(&self, group: &Group, assertions: i32) -> Result<()> {
        check(assertions)?;
        self.window.post(self.ranks(group)?)
    }

    /// `MPI_Win_start`.
    ///
    /// # Errors
    /// `MPI_ERR_ASSERT`, `MPI_ERR_GROUP`, `MPI_ERR_RMA_SYNC`.
    pub fn start(&self, group: &Group, assertions: i32) -> Result<()> {
        check(assertions)?;
        self.window.start(&self.ranks(group)?, assertions & mpi::MPI_MODE_NOCHECK != 0)
    }

    /// `MPI_Win_lock`.
    ///
    /// # Errors
    /// `MPI_ERR_LOCKTYPE`, `MPI_ERR_ASSERT`, `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`.
    pub fn lock(&self, kind: i32, rank: i32, assertions: i32) -> Result<()> {
        let shared = match kind {
            mpi::MPI_LOCK_SHARED => true,
            mpi::MPI_LOCK_EXCLUSIVE => false,
            _ => {
                let message = format!("{kind} is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE");
                return Err(Error::new(mpi::MPI_ERR_LOCKTYPE, message));
            }
        };
        check(assertions)?;
        self.check_locks()?;
        if rank == mpi::MPI_PROC_NULL {
            return Ok(());
        }
        self.window.lock_target(rank, shared, assertions & mpi::MPI_MODE_NOCHECK != 0)
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`.
    pub fn unlock(&self, rank: i32) -> Result<()> {
        if rank == mpi::MPI_PROC_NULL { Ok(()) } else { self.window.unlock_target(rank) }
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// `MPI_ERR_ASSERT`, `MPI_ERR_RMA_SYNC`.
    pub fn lock_all(&self, assertions: i32) -> Result<()> {
        check(assertions)?;
        self.check_locks()?;
        self.window.lock_all(assertions & mpi::MPI_MODE_NOCHECK != 0)
    }

    /// `MPI_Win_flush` and `MPI_Win_flush_local`.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`.
    pub fn flush(&self, rank: i32) -> Result<()> {
        if rank == mpi::MPI_PROC_NULL { Ok(()) } else { self.window.flush(rank) }
    }

    fn check_locks(&self) -> Result<()> {
        if !self.is_without_locks() {
            return Ok(());
        }
        let message = "the window was made with the info key no_locks, and so it has no locks";
        Err(Error::new(mpi::MPI_ERR_RMA_SYNC, message))
    }
}
