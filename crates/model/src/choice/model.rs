//! A model: one value for each choice.

use super::arbitration::Arbitration;
use super::options::{
    Bias, Execution, Granularity, Lifetime, OffloadThreads, ProgressEntry, ReferenceCounts, RequestPool,
    Requests, TestBackoff, WakeUp,
};
use super::threshold::CollectThreshold;
use heddle_locks::hmcs::Thresholds;
use heddle_locks::kinds::{LockKind, LockName};

/// A thread-safety model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Decides which critical section guards an object.
    pub granularity: Granularity,
    /// Decides which thread enters a contended critical section next.
    pub arbitration: Arbitration,
    /// Decides which threads enter a critical section with plain instructions while no others use it
    /// ([`heddle_locks::Biased`], [`heddle_locks::CoreBiased`]).
    pub bias: Bias,
    /// Decides which thread runs an operation.
    pub execution: Execution,
    /// Decides how a waiting thread enters a critical section to make progress.
    pub progress_entry: ProgressEntry,
    /// The number of threads for the VNIs under `offload`.
    pub offload_threads: OffloadThreads,
    /// Decides how a waiter learns that its operation is complete.
    pub wake_up: WakeUp,
    /// Decides what keeps an object alive while a request uses it.
    pub lifetime: Lifetime,
    /// The number of additional freed objects that starts a collection.
    pub collect_threshold: CollectThreshold,
    /// Decides where requests come from.
    pub request_pool: RequestPool,
    /// Decides which sends have a request.
    pub requests: Requests,
    /// Decides how references to objects are counted.
    pub reference_counts: ReferenceCounts,
    /// The number of times in a row that a cohort passes a lock on within before others get it, under `hmcs`.
    pub cohort_thresholds: Thresholds,
    /// The number of threads of the main path that may pass a waiting thread of the
    /// progress path, under `p-X-Y`.
    pub low_bound: u32,
    /// The largest number of operations of other threads that a thread runs before it hands the critical
    /// section on, under `csync`, `dsm-synch` and `lockq`.
    pub combining_limit: u32,
    /// The number of times that a thread which finds a critical section taken yields and tries again before
    /// it posts, under `lockq`.
    pub post_tries: u32,
    /// The time that `MPI_Test` and similar functions wait for a critical section before they
    /// give up, in microseconds.
    pub test_patience_us: u32,
    /// Decides what a test does after it has found a critical section taken.
    pub test_backoff: TestBackoff,
}

impl Model {
    /// The time that `MPI_Test` and similar functions wait for a critical section before they
    /// give up, in nanoseconds.
    pub fn test_patience_ns(&self) -> u64 {
        u64::from(self.test_patience_us) * 1_000
    }

    /// Returns true if a thread that calls MPI may wait for a lock of the model's arbitration.
    pub(super) fn has_lock_to_wait_for(&self) -> bool {
        self.granularity != Granularity::LockFree
            && matches!(self.execution, Execution::Caller | Execution::LockQ)
    }

    /// Returns true if threads that are near each other pass a lock on among them.
    pub(super) fn has_cohorts(&self) -> bool {
        let is_hmcs = |kind| matches!(kind, LockKind::Hmcs | LockKind::StrictHmcs);
        self.has_lock_to_wait_for()
            && match self.arbitration {
                Arbitration::One(kind) => is_hmcs(kind),
                Arbitration::Priority(main, progress) => is_hmcs(main) || is_hmcs(progress),
            }
    }

    /// Returns true if a thread that waits for a critical section can give up.
    pub(super) fn waiters_give_up(&self) -> bool {
        let Arbitration::One(kind) = self.arbitration else { return false };
        // Under the other granularities a VNI has many locks, which its poll only tries, or none.
        matches!(self.granularity, Granularity::PerVni | Granularity::BriefGlobal | Granularity::Global)
            && self.execution == Execution::Caller
            && self.bias == Bias::None
            && LockName::Single(kind).is_timed()
    }

    /// Returns true if a test tries a critical section of its VNI. Under the other granularities it waits for
    /// that of the call, or tries many, each for a moment.
    pub(super) fn tests_try(&self) -> bool {
        matches!(self.granularity, Granularity::PerVni | Granularity::BriefGlobal) && !self.is_offloaded()
    }

    /// The only way in which a waiting thread can enter critical sections to make progress; `None` if there
    /// are several. Under `global` it always waits for the only one. Under `lock-free` it never waits, and
    /// under `offload` it makes no progress.
    pub(super) fn only_progress_entry(&self) -> Option<ProgressEntry> {
        match self.granularity {
            Granularity::Global => Some(ProgressEntry::Wait),
            Granularity::LockFree => Some(ProgressEntry::Try),
            _ => self.is_offloaded().then_some(ProgressEntry::Try),
        }
    }

    /// Returns true if a waiting thread may wait for critical sections to make progress, or not.
    pub(super) fn has_progress_entries(&self) -> bool {
        self.only_progress_entry().is_none()
    }

    /// Returns true if threads of the library run the operations. Then several threads are in the
    /// library at any thread level.
    pub fn is_offloaded(&self) -> bool {
        self.execution == Execution::Offload
    }

    /// Returns true if each VNI has a separate lock and calling threads run their operations themselves. Then
    /// a thread may be in several VNIs. `threads` is true if several threads may call at once.
    pub fn locks_each_vni(&self, threads: bool) -> bool {
        threads && self.granularity == Granularity::PerVni && self.execution == Execution::Caller
    }
}
