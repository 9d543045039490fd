//! Fence, and post, start, complete, wait (MPI 5.0, sections 12.5.1 and 12.5.2).
//!
//! A fence is a barrier of the window's processes, which `heddle-rma` makes; here is the epoch between two of
//! them. For the others each process counts, for each peer, how often that peer has posted to it and how
//! often it has completed an access. The counters only grow, and each has one writer, so no message and no
//! lock is needed. A process also remembers how many of them it has used.

use crate::exposure::ExposureState;
use crate::remote::{Change, Remote};
use crate::target::access;
use crate::window::Window;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::Ordering;
use heddle_spec::constants as mpi;
use std::sync::{MutexGuard, PoisonError};

#[cold]
fn wrong_epoch(message: &str) -> Error {
    Error::new(mpi::MPI_ERR_RMA_SYNC, message)
}

impl Window {
    /// The lock is never held while a thread waits for another process: it makes progress then, and where a
    /// model has one critical section waits for the threads inside, which may want this lock.
    fn active(&self) -> MutexGuard<'_, ExposureState> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_exposed(&self) -> bool {
        self.active().exposed.is_some()
    }

    /// Checks, before the barrier of a fence, that no other epoch is open.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn before_fence(&self) -> Result<()> {
        if self.targets().iter().any(|target| target.access() & !access::FENCE != 0) || self.is_exposed() {
            return Err(wrong_epoch(
                "a fence inside of a lock, or between start and complete or post and wait",
            ));
        }
        self.complete_all();
        Ok(())
    }

    /// Begins the next epoch after the barrier of a fence; none if `last` says that no operations follow.
    pub fn after_fence(&self, last: bool) {
        self.complete_all();
        if last {
            self.end_fences();
        } else if !self.is_fenced.swap(true, Ordering::Relaxed) {
            self.targets().iter().for_each(|target| target.grant(access::FENCE));
        }
    }

    /// Exposes this process's memory to these ranks.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if it is exposed already.
    pub fn post(&self, ranks: Vec<usize>) -> Result<()> {
        let mut active = self.active();
        if active.exposed.is_some() {
            return Err(wrong_epoch("the memory is exposed already: MPI_Win_wait ends that epoch"));
        }
        active.exposed = Some(ranks.clone());
        drop(active);
        self.complete_all();
        for rank in ranks {
            let posted = self.remote().geometry().posted(self.rank());
            self.remote().change(rank, posted, Change::Add(1));
            self.remote().wake(rank);
        }
        Ok(())
    }

    /// Begins an access to these ranks, which post or have posted. `unchecked` says that they
    /// have (`MPI_MODE_NOCHECK`).
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if an access was started already, or a lock is held.
    pub fn start(&self, ranks: &[usize], unchecked: bool) -> Result<()> {
        self.end_fences();
        let wanted = self.begin_start(ranks)?;
        for (rank, wanted) in ranks.iter().zip(wanted) {
            if !unchecked {
                let posted = self.remote().geometry().posted(*rank);
                self.domain().wait_until(0, || self.remote().load(self.rank(), posted) >= wanted);
            }
            self.targets()[*rank].grant(access::STARTED);
        }
        self.active().is_starting = false;
        Ok(())
    }

    /// Notes an access to these ranks; returns the number of posts of each that it waits for. The caller
    /// waits without the lock, so that another thread can post meanwhile.
    fn begin_start(&self, ranks: &[usize]) -> Result<Vec<u64>> {
        let mut active = self.active();
        if active.started.is_some() {
            return Err(wrong_epoch("an access was started already: MPI_Win_complete ends it"));
        }
        // Before the look at the accesses: of this and of a lock at the same time one at least is refused.
        self.is_started.swap(true, Ordering::SeqCst);
        if self.targets().iter().any(|target| target.access() != 0) {
            self.is_started.store(false, Ordering::SeqCst);
            return Err(wrong_epoch("an access cannot be started while a lock is held"));
        }
        active.started = Some(ranks.to_vec());
        active.is_starting = true;
        let used = &mut active.posts_used;
        Ok(ranks
            .iter()
            .map(|rank| {
                used[*rank] += 1;
                used[*rank]
            })
            .collect())
    }

    /// Ends the access.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if none was started, or if another thread still waits for its posts.
    pub fn complete(&self) -> Result<()> {
        let mut active = self.active();
        if active.is_starting {
            return Err(wrong_epoch("another thread is still in MPI_Win_start, and waits for posts"));
        }
        let ranks = active.started.take();
        drop(active);
        let ranks = ranks.ok_or_else(|| wrong_epoch("no access was started: MPI_Win_start begins one"))?;
        // Until here the targets refuse another start.
        self.complete_all();
        let active = self.active();
        self.is_started.store(false, Ordering::SeqCst);
        ranks.iter().for_each(|rank| self.targets()[*rank].withdraw(access::STARTED));
        drop(active);
        for rank in ranks {
            let completed = self.remote().geometry().completed(self.rank());
            self.remote().change(rank, completed, Change::Add(1));
            self.remote().wake(rank);
        }
        Ok(())
    }

    /// Ends the exposure if all accesses have ended; returns whether they have.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if the memory is not exposed.
    pub fn test_exposure(&self) -> Result<bool> {
        let mut active = self.active();
        let ranks = active.exposed.take();
        let ranks = ranks.ok_or_else(|| wrong_epoch("the memory is not exposed: MPI_Win_post does that"))?;
        let completions =
            |rank: usize| self.remote().load(self.rank(), self.remote().geometry().completed(rank));
        let is_over = ranks.iter().all(|rank| completions(*rank) > active.completions_used[*rank]);
        if is_over {
            ranks.iter().for_each(|rank| active.completions_used[*rank] += 1);
        } else {
            active.exposed = Some(ranks);
        }
        Ok(is_over)
    }

    /// Waits until all accesses have ended, and ends the exposure.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC` if the memory is not exposed.
    pub fn wait_exposure(&self) -> Result<()> {
        let mut result = self.test_exposure();
        if matches!(result, Ok(false)) {
            self.domain().wait_until(0, || {
                // The domain may ask again after a yes, when the exposure is over.
                if matches!(result, Ok(false)) {
                    result = self.test_exposure();
                }
                !matches!(result, Ok(false))
            });
        }
        result.map(drop)
    }
}
