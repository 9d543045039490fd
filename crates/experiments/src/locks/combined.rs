//! Combining, with its default limits.

use std::marker::PhantomData;

use heddle_combining::{Combining, DsmSynch, LockQueue, OffloadThread, dsm_synch, lock_queue};
use heddle_locks::kinds::{LockSettings, Recipe};
use heddle_sync::WaitPolicy;

use super::guarded::{GuardKind, Guarded};

/// DSM-Synch.
#[derive(Debug)]
pub(crate) struct Dsm;

impl GuardKind for Dsm {
    type Guarded<T: Send + 'static> = Combined<DsmSynch<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        Combined(DsmSynch::new(value, dsm_synch::DEFAULT_LIMIT, WaitPolicy::DEFAULT))
    }
}

/// LockQ over a lock.
#[derive(Debug)]
pub(crate) struct LockQ<R>(PhantomData<R>);

impl<R: Recipe> GuardKind for LockQ<R> {
    type Guarded<T: Send + 'static> = Combined<LockQueue<R::Lock, T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        let threshold = lock_queue::DEFAULT_THRESHOLD;
        Combined(LockQueue::new(R::make(&LockSettings::default()), value, threshold, WaitPolicy::DEFAULT))
    }
}

/// A thread that runs all operations.
#[derive(Debug)]
pub(crate) struct Offloaded;

impl GuardKind for Offloaded {
    type Guarded<T: Send + 'static> = Combined<OffloadThread<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        let thread = OffloadThread::start(value, "heddle-offload", WaitPolicy::DEFAULT);
        Combined(thread.expect("a thread for the operations"))
    }
}

/// A value under combining.
#[derive(Debug)]
pub(crate) struct Combined<C>(C);

impl<T, C: Combining<T>> Guarded<T> for Combined<C> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        self.0.run(operation)
    }
}
