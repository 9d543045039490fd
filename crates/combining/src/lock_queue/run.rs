//! The calls of LockQ: an operation is run or posted.

use super::held::Held;
use super::state::{Drained, LockQueue};
use crate::Combining;
use crate::posted::{Posted, run_unattended};
use heddle_sync::RawLock;

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Returns true if no thread is at the value and nothing is posted; it may be outdated at once.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.try_hold().is_some_and(|_held| self.posted.is_empty() && self.guarded(|g| g.pending.is_null()))
    }
}

impl<L: RawLock, T: Send + 'static> Combining<T> for LockQueue<L, T> {
    #[inline]
    fn run<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let Some(token) = self.lock.try_acquire() else { return self.run_posted(operation, false) };
        let mut held = Held::new(self, token);
        if !held.may_stay() {
            return self.run_back(held, operation);
        }
        match self.run_holding(&mut held, operation) {
            Ok(result) => result,
            Err(operation) => self.run_behind(held, operation),
        }
    }

    /// Leaves when the operation has been run or posted. An operation may call it.
    #[inline]
    fn post(&self, operation: impl FnOnce(&mut T) + Send + 'static) {
        let Some(mut held) = self.try_hold() else { return self.post_only(operation) };
        if held.drain() == Drained::Threshold {
            self.enqueue(Posted::new(operation).request());
            return;
        }
        self.guarded(|guarded| run_unattended(operation, &mut guarded.value));
    }

    #[inline]
    fn try_run<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, operation: F) -> Result<R, F> {
        match self.try_hold() {
            Some(mut held) => self.run_holding(&mut held, operation),
            None => Err(operation),
        }
    }

    /// Waits for the lock instead of posting.
    fn run_here<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        let mut operation = operation;
        loop {
            let mut held = self.held(self.lock.acquire());
            match self.run_holding(&mut held, operation) {
                Ok(result) => return result,
                Err(back) => operation = back,
            }
        }
    }
}

impl<L: RawLock, T: 'static> Drop for LockQueue<L, T> {
    /// Runs the operations that are still posted.
    fn drop(&mut self) {
        while self.guarded(|guarded| self.drain_posted(guarded)) == Drained::Threshold {}
    }
}
