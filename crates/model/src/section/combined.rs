//! State that threads reach otherwise than by a lock of its own: one thread runs the operations of several,
//! or the lock of the process guards it.

use super::lock::{SectionLock, lock_settings};
use super::offload::{Offload, OffloadServer, ThreadWaker};
use super::one_lock::OneLock;
use crate::choice::{Arbitration, Execution, Model};
use crate::counters::{Row, Tracked};
use crate::path::Path;
use heddle_combining::{Combining, DsmSynch, LockQueue, LockQueueMutex};
use heddle_locks::kinds::{AnyLock, LockKind};
use heddle_platform::thread;
use heddle_sync::{Mutex, WaitPolicy};

/// State on which the thread inside the critical section runs the operations of all threads.
#[expect(clippy::large_enum_variant, reason = "it lies in a box of its own")]
pub(super) enum Combined<T: Send + 'static> {
    CSync(DsmSynch<Tracked<T>>),
    LockQMutex(LockQueueMutex<Tracked<T>>),
    LockQ(LockQueue<AnyLock, Tracked<T>>),
    /// An offload thread runs all operations.
    Offload(Offload<T>),
    /// Nothing is combined: the lock of the process guards the state.
    OneLock(OneLock<T>),
}

/// Evaluates `call` with the combining that is used. The caller has seen that there is one.
macro_rules! combined {
    ($self:ident, $combining:ident => $call:expr) => {
        match $self {
            Combined::OneLock(_) => unreachable!("nothing is combined"),
            Combined::CSync($combining) => $call,
            Combined::LockQMutex($combining) => $call,
            Combined::LockQ($combining) => $call,
            Combined::Offload($combining) => $call,
        }
    };
}

impl<T: Send + 'static> Combined<T> {
    /// Chooses the combining by the execution of `model`, which is `csync`, `dsm-synch` or `lockq`.
    pub(super) fn new(model: &Model, row: Row, state: T) -> Combined<T> {
        let (limit, policy) = (model.combining_limit, WaitPolicy::DEFAULT);
        let state = Tracked::new(state, row);
        match (model.execution, model.arbitration) {
            // A failing try of a mutex says that there is a holder; those of other locks are not exact.
            (Execution::LockQ, Arbitration::One(LockKind::Mutex) | Arbitration::Priority(..)) => {
                Combined::LockQMutex(LockQueue::new(Mutex::new(policy), state, limit, policy))
            }
            (Execution::LockQ, Arbitration::One(kind)) => {
                let lock = AnyLock::new(kind, &lock_settings(model));
                Combined::LockQ(LockQueue::new(lock, state, limit, policy))
            }
            (Execution::DsmSynch, _) => Combined::CSync(DsmSynch::always_queued(state, limit, policy)),
            _ => Combined::CSync(DsmSynch::new(state, limit, policy)),
        }
    }

    /// Leaves all operations to the offload thread that `server` has for VNI number `vni`.
    pub(super) fn offloaded(server: &OffloadServer, vni: usize, row: Row, state: T) -> Combined<T> {
        let waker = ThreadWaker { server: server.clone(), thread: server.thread_of(vni) };
        Combined::Offload(Offload::with_waker(Tracked::new(state, row), waker, WaitPolicy::DEFAULT))
    }

    /// Guards the state by the lock of the process; see [`OneLock::new`].
    pub(super) fn in_process(lock: SectionLock, nests: bool, state: T) -> Combined<T> {
        Combined::OneLock(OneLock::new(lock, nests, state))
    }

    /// The lock of the process, if it guards the state.
    pub(super) fn one_lock(&self) -> Option<&OneLock<T>> {
        if let Combined::OneLock(lock) = self { Some(lock) } else { None }
    }

    /// Runs the operation, or has another thread run it. Returns its result.
    #[inline(never)]
    pub(super) fn run<R: Send>(&self, path: Path, row: Row, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        if let Some(lock) = self.one_lock() {
            return lock.run(path, row, operation);
        }
        row.entered(path);
        row.combine(path, |by_another| {
            let operation = counted(row, thread::current_id(), by_another, operation);
            match path {
                Path::Main => combined!(self, combining => combining.run(operation)),
                Path::Progress => combined!(self, combining => combining.run_here(operation)),
            }
        })
    }

    /// Runs the operation if no other thread is inside.
    #[inline(never)]
    pub(super) fn try_run<R: Send>(
        &self,
        path: Path,
        row: Row,
        operation: impl FnOnce(&mut T) -> R + Send,
    ) -> Option<R> {
        if let Some(lock) = self.one_lock() {
            return lock.try_run(path, row, operation);
        }
        let result = self.try_poll(row, operation);
        if result.is_some() {
            row.entered(path);
        }
        result
    }

    /// Does the same as [`try_run`](Self::try_run), but counts only a failure.
    #[inline(never)]
    pub(super) fn try_poll<R: Send>(
        &self,
        row: Row,
        operation: impl FnOnce(&mut T) -> R + Send,
    ) -> Option<R> {
        if let Some(lock) = self.one_lock() {
            return lock.try_poll(row, operation);
        }
        if matches!(self, Combined::Offload(_)) {
            // Only offload threads run operations.
            return None;
        }
        let result = combined!(self, combining => combining.try_run(|state: &mut Tracked<T>| state.run(operation)).ok());
        if result.is_none() {
            row.refused();
        }
        result
    }

    /// Has the operation run, by this thread now or by another one soon.
    pub(super) fn post(&self, row: Row, operation: impl FnOnce(&mut T) + Send + 'static) {
        if let Some(lock) = self.one_lock() {
            return lock.run(Path::Main, row, operation);
        }
        row.entered(Path::Main);
        let caller = thread::current_id();
        let operation = move |state: &mut Tracked<T>| counted(row, caller, &mut false, operation)(state);
        combined!(self, combining => combining.post(operation));
    }

    /// Returns true if a thread may [post](Self::post) operations without waiting for them.
    pub(super) fn takes_posts(&self) -> bool {
        !matches!(self, Combined::CSync(_) | Combined::OneLock(_))
    }
}

/// Wraps an operation: if another thread than the caller runs it, the operation is counted and
/// `by_another` becomes true.
#[inline]
fn counted<T, R>(
    row: Row,
    caller: u64,
    by_another: &mut bool,
    operation: impl FnOnce(&mut T) -> R + Send,
) -> impl FnOnce(&mut Tracked<T>) -> R + Send {
    move |state| {
        if thread::current_id() != caller {
            *by_another = true;
            row.ran_for_another();
        }
        state.run(operation)
    }
}
