//! A model: one value for each choice.

use super::arbitration::Arbitration;
use super::options::{
    Bias, Execution, Granularity, Lifetime, OffloadThreads, ReferenceCounts, RequestPool, WakeUp,
};
use super::threshold::CollectThreshold;

/// A thread-safety model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Which section guards an object.
    pub granularity: Granularity,
    /// Who enters a contended section next.
    pub arbitration: Arbitration,
    /// Which threads enter a section with plain instructions while no others use it ([`heddle_sync::Biased`],
    /// [`heddle_sync::CoreBiased`]).
    pub bias: Bias,
    /// Who runs an operation.
    pub execution: Execution,
    /// How many threads there are for the VNIs under `offload`.
    pub offload_threads: OffloadThreads,
    /// How a waiter learns that its operation is complete.
    pub wake_up: WakeUp,
    /// What keeps an object alive while a request uses it.
    pub lifetime: Lifetime,
    /// How many more freed objects there are before they are collected.
    pub collect_threshold: CollectThreshold,
    /// Where requests come from.
    pub request_pool: RequestPool,
    /// How references to objects are counted.
    pub reference_counts: ReferenceCounts,
    /// How many times in a row a cohort passes a lock on within before others get it, under `hmcs`.
    pub cohort_threshold: u32,
    /// How many threads of the main path may pass one of the progress path that waits, under `p-X-Y`.
    pub low_bound: u32,
    /// How many operations of others a thread runs at most before it hands the section on, under `csync` and
    /// `lockq`.
    pub combining_limit: u32,
    /// How many times a thread that finds a section taken yields and tries again before it posts, under
    /// `lockq`.
    pub post_tries: u32,
    /// How long `MPI_Test` and its like wait for a section before they give up, in microseconds.
    pub test_patience_us: u32,
}

impl Model {
    /// How long `MPI_Test` and its like wait for a section before they give up, in nanoseconds.
    pub fn test_patience_ns(&self) -> u64 {
        u64::from(self.test_patience_us) * 1_000
    }

    /// Whether threads of the library's own run the operations. Then several threads are inside of it at any
    /// thread level.
    pub fn is_offloaded(&self) -> bool {
        self.execution == Execution::Offload
    }

    /// Whether each VNI has a lock of its own, and the threads that call run their operations themselves.
    /// Then one of them may be in several VNIs.
    pub fn locks_each_vni(&self, threads: bool) -> bool {
        threads && self.granularity == Granularity::PerVni && self.execution == Execution::Caller
    }
}
