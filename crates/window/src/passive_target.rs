//! Lock, unlock and flush (MPI 5.0, section 12.5.3).
//!
//! A lock waits until it is granted. So every operation inside an epoch may access memory at once, and unlock
//! completes them and releases.
//!
//! Threads may call these functions in any order. A process's words of a lock are for one thread at a time,
//! so a thread marks the target as *changing* before it takes or releases the lock there, and notes the lock
//! as held only once it is granted. Of several threads one gets the mark; until it has finished the others
//! get `MPI_ERR_RMA_SYNC`.

use crate::remote::Remote;
use crate::target::{Target, access};
use crate::window::Window;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{Ordering, fence};
use heddle_spec::constants as mpi;

#[cold]
fn wrong_epoch(message: String) -> Error {
    Error::new(mpi::MPI_ERR_RMA_SYNC, message)
}

#[cold]
fn in_started(rank: i32) -> Error {
    wrong_epoch(format!(
        "rank {rank} of the window cannot be locked: this process has started an access to other ranks by MPI_Win_start, \
         and a window is in one access epoch at a time; MPI_Win_complete ends that one"
    ))
}

impl Window {
    /// Locks a target. `unchecked` says that nobody holds a lock that excludes this one (`MPI_MODE_NOCHECK`).
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; `MPI_ERR_RMA_SYNC` if this process has a lock there already, or is in another epoch.
    pub fn lock_target(&self, rank: i32, shared: bool, unchecked: bool) -> Result<()> {
        let target = self.target(rank)?;
        let kind = if shared { access::SHARED } else { access::EXCLUSIVE };
        self.begin(target, rank)?;
        // After the mark, as a start notes itself before it looks at the accesses.
        if self.is_started.load(Ordering::SeqCst) {
            // The start may have granted its access meanwhile.
            target.withdraw(access::CHANGING);
            return Err(in_started(rank));
        }
        if !unchecked {
            self.acquire(rank as usize, shared);
        }
        target.settle(kind | if unchecked { access::UNCHECKED } else { 0 });
        Ok(())
    }

    /// Marks the target, so that of two threads that lock it one gets an error.
    fn begin(&self, target: &Target, rank: i32) -> Result<()> {
        if target.change(0, access::CHANGING) {
            return Ok(());
        }
        self.end_fences();
        // Another thread may have ended the fences, and not have come to this target yet.
        if target.change(0, access::CHANGING) || target.change(access::FENCE, access::CHANGING) {
            return Ok(());
        }
        let epoch = match target.access() {
            access if access & access::LOCKED != 0 => "holds a lock there already",
            0 | access::CHANGING => "is taking or releasing a lock there, in another thread",
            _ => "has started an access there, which MPI_Win_complete ends",
        };
        Err(wrong_epoch(format!("rank {rank} of the window cannot be locked: this process {epoch}")))
    }

    /// Ends the epoch between fences, in which nothing may be open any more when another kind of epoch
    /// begins.
    pub(crate) fn end_fences(&self) {
        if self.is_fenced.swap(false, Ordering::Relaxed) {
            self.targets().iter().for_each(|target| target.withdraw(access::FENCE));
        }
    }

    /// Unlocks a target.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; `MPI_ERR_RMA_SYNC` if this process has no lock there.
    pub fn unlock_target(&self, rank: i32) -> Result<()> {
        let target = self.target(rank)?;
        if self.release(target, rank as usize, access::SHARED | access::EXCLUSIVE) {
            return Ok(());
        }
        let why = if target.access() & access::CHANGING != 0 {
            ": another thread is taking or releasing it"
        } else {
            ""
        };
        Err(wrong_epoch(format!("this process holds no lock on rank {rank} of the window{why}")))
    }

    /// Releases the lock of a target, if this process has one of these kinds there. Of two
    /// threads that try one succeeds.
    fn release(&self, target: &Target, rank: usize, kinds: u32) -> bool {
        let held = target.access();
        // The process's words of the lock are in use until the release is over: until then no thread
        // may take the lock again.
        if held & kinds == 0 || !target.change(held, access::CHANGING) {
            return false;
        }
        self.remote().complete_at(rank);
        if held & access::UNCHECKED == 0 {
            self.release_lock(rank, held & access::EXCLUSIVE == 0);
        } else {
            // The release of a lock orders the operations before it; here nothing else does.
            fence(Ordering::SeqCst);
        }
        target.end_access();
        true
    }

    /// Takes a shared lock of every target.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if this process has a lock already, or is in another epoch.
    pub fn lock_all(&self, unchecked: bool) -> Result<()> {
        self.end_fences();
        let kind = access::ALL | if unchecked { access::UNCHECKED } else { 0 };
        let give_up =
            |targets: &[Target]| targets.iter().for_each(|target| target.withdraw(access::CHANGING));
        for (rank, target) in self.targets().iter().enumerate() {
            if let Err(error) = self.begin(target, rank as i32) {
                give_up(&self.targets()[..rank]);
                return Err(error);
            }
        }
        // Those of a start of no ranks.
        if self.is_started.load(Ordering::SeqCst) {
            give_up(self.targets());
            return Err(in_started(0));
        }
        if !unchecked {
            (0..self.targets().len()).for_each(|rank| self.acquire(rank, true));
        }
        // From the last to the first: a thread that finds the first one held releases them all.
        self.targets().iter().rev().for_each(|target| target.settle(kind));
        Ok(())
    }

    /// Releases the locks of [`lock_all`](Self::lock_all).
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if this process has not locked all targets.
    pub fn unlock_all(&self) -> Result<()> {
        // From the first to the last: of several threads one releases the first, and then all others are its
        // own.
        for (rank, target) in self.targets().iter().enumerate() {
            if !self.release(target, rank, access::ALL) {
                return Err(wrong_epoch("this process has not locked all ranks of the window".to_owned()));
            }
        }
        Ok(())
    }

    /// Completes all operations on a target. On this machine they are complete already, and only their order
    /// with what follows remains.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; `MPI_ERR_RMA_SYNC` if this process has no lock there.
    pub fn flush(&self, rank: i32) -> Result<()> {
        if !self.target(rank)?.is_locked() {
            let message =
                format!("a flush needs a lock, and this process holds none on rank {rank} of the window");
            return Err(wrong_epoch(message));
        }
        self.complete_at(rank as usize);
        Ok(())
    }

    /// Completes all operations on all targets.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if this process has no lock.
    pub fn flush_all(&self) -> Result<()> {
        if !self.targets().iter().any(Target::is_locked) {
            return Err(wrong_epoch(
                "a flush needs a lock, and this process holds none on the window".to_owned(),
            ));
        }
        self.complete_all();
        Ok(())
    }
}
