//! A model, and the settings that are parts of it.

use super::arbitration::{ARBITRATIONS, Arbitration};
use super::kind::{Custom, Names, Number, Values};
use super::options::{
    Bias, Execution, Granularity, Lifetime, OffloadThreads, ProgressEntry, ReferenceCounts, RequestPool,
    Requests, TestBackoff, WakeUp,
};
use super::setting::Condition;
use super::threshold::{COLLECT_THRESHOLDS, CollectThreshold};
use heddle_locks::hmcs::Thresholds;
use heddle_locks::kinds::{LockKind, LockName};

crate::settings! {
    /// A thread-safety model: a part for each choice, in the order of the papers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Model {
        granularity: Granularity {
            variable: "HEDDLE_GRANULARITY",
            class: Research,
            meaning: "which critical section guards an object",
            values: Names::<Granularity>::ALL,
            default: Granularity::PerVni,
        }
        arbitration: Arbitration {
            variable: "HEDDLE_ARBITRATION",
            class: Research,
            meaning: "which thread enters a contended critical section next",
            values: ARBITRATIONS,
            default: Arbitration::One(LockKind::Mutex),
        }
        ///
        /// The locks are [`heddle_locks::Biased`] and [`heddle_locks::CoreBiased`].
        bias: Bias {
            variable: "HEDDLE_BIAS",
            class: Tuning,
            meaning: "which threads enter a critical section at nearly no cost while no others use it (on: thread, off: none)",
            values: Names::<Bias>::ALL,
            default: Bias::None,
        }
        execution: Execution {
            variable: "HEDDLE_EXECUTION",
            class: Research,
            meaning: "which thread runs an operation",
            values: Names::<Execution>::ALL,
            default: Execution::Caller,
        }
        progress_entry: ProgressEntry {
            variable: "HEDDLE_PROGRESS_ENTRY",
            class: Research,
            meaning: "how a waiting thread enters a critical section to make progress",
            values: Names::<ProgressEntry>::ALL,
            default: ProgressEntry::Try,
            acts_under: ENTERING,
        }
        offload_threads: OffloadThreads {
            variable: "HEDDLE_OFFLOAD_THREADS",
            class: Tuning,
            meaning: "how many threads there are for the VNIs, under offload",
            values: Names::<OffloadThreads>::ALL,
            default: OffloadThreads::PerVni,
            acts_under: OFFLOAD,
        }
        wake_up: WakeUp {
            variable: "HEDDLE_WAKEUP",
            called: "wake-up",
            class: Research,
            meaning: "how a waiter learns that its operation is complete",
            values: Names::<WakeUp>::ALL,
            default: WakeUp::Blind,
        }
        lifetime: Lifetime {
            variable: "HEDDLE_LIFETIME",
            class: Research,
            meaning: "what keeps an object alive while a request uses it",
            values: Names::<Lifetime>::ALL,
            default: Lifetime::Collect,
        }
        collect_threshold: CollectThreshold {
            variable: "HEDDLE_COLLECT_THRESHOLD",
            class: Tuning,
            meaning: "how many more freed objects start a collection",
            values: COLLECT_THRESHOLDS,
            default: CollectThreshold::Adaptive,
            acts_under: COLLECTING,
        }
        request_pool: RequestPool {
            variable: "HEDDLE_REQUEST_POOL",
            class: Research,
            meaning: "where requests come from",
            values: Names::<RequestPool>::ALL,
            default: RequestPool::ThreadLocal,
        }
        requests: Requests {
            variable: "HEDDLE_REQUESTS",
            class: Research,
            meaning: "which sends have a request",
            values: Names::<Requests>::ALL,
            default: Requests::Needed,
        }
        reference_counts: ReferenceCounts {
            variable: "HEDDLE_REFERENCE_COUNTS",
            class: Research,
            meaning: "how references to objects are counted",
            values: Names::<ReferenceCounts>::ALL,
            default: ReferenceCounts::Atomic,
        }
        cohort_thresholds: Thresholds {
            variable: "HEDDLE_COHORT_THRESHOLD",
            class: Tuning,
            meaning: "how many times in a row threads near each other pass a critical section on before others get it, under hmcs: \
                      at all levels of the machine, or at each",
            values: COHORT_THRESHOLDS,
            default: Thresholds::at_all_levels(heddle_locks::hmcs::DEFAULT_THRESHOLD),
            acts_under: HMCS,
        }
        low_bound: u32 {
            variable: "HEDDLE_LOW_BOUND",
            class: Tuning,
            meaning: "how many issuing threads may pass a waiting thread, under p-X-Y",
            values: Number { least: 1, most: u32::MAX },
            default: heddle_locks::two_level::LOW_BOUND,
            acts_under: PRIORITY,
        }
        combining_limit: u32 {
            variable: "HEDDLE_COMBINING_LIMIT",
            class: Tuning,
            meaning: "how many operations of others a thread runs before it hands the critical section on, under csync, dsm-synch and lockq",
            values: Number { least: 1, most: u32::MAX },
            default: heddle_combining::lock_queue::DEFAULT_THRESHOLD,
            acts_under: COMBINING,
        }
        post_tries: u32 {
            variable: "HEDDLE_POST_TRIES",
            class: Tuning,
            meaning: "how many times a thread that finds a critical section taken yields and tries again before it posts its operation, under lockq",
            values: Number { least: 0, most: u32::MAX },
            default: 10,
            acts_under: POSTING,
        }
        test_patience_us: u32 {
            variable: "HEDDLE_TEST_PATIENCE",
            class: Research,
            meaning: "for how many microseconds MPI_Test and its like wait for a critical section before they give up (mutex, clh, \
                      abortable-mcs and hmcs without a bias let them; others only try). Under \
                      global 0 lets them wait like every call",
            values: Number { least: 0, most: u32::MAX },
            default: 0,
            acts_under: GIVING_UP,
        }
        test_backoff: TestBackoff {
            variable: "HEDDLE_TEST_BACKOFF",
            class: Tuning,
            meaning: "whether MPI_Test and its like, after they have found a critical section taken, leave it alone for the next 1, 2, 4, .. \
                      calls of the thread",
            values: Names::<TestBackoff>::ALL,
            default: TestBackoff::None,
            acts_under: TRYING,
        }
    }
    /// Every part of a model.
    table: [pub const PARTS];
    /// The parts that named models share unless they set them.
    defaults: [pub(super) const fn with_defaults];
}

const COHORT_THRESHOLDS: Custom<Thresholds> = Custom {
    form: Values::Text,
    allowed: Thresholds::allowed,
    read: |text| text.parse().map_err(|_| format!("{} is wanted", Thresholds::allowed())),
    write: ToString::to_string,
    examples: || vec!["1", "100", "64:16"],
};

/// Threads of the library run the operations.
pub const OFFLOAD: Condition<Model> = Condition { name: "execution \"offload\"", holds: Model::is_offloaded };
const COLLECTING: Condition<Model> =
    Condition { name: "a lifetime other than \"none\"", holds: |model| model.lifetime != Lifetime::Never };
const HMCS: Condition<Model> = Condition { name: "an arbitration with hmcs", holds: Model::has_cohorts };
const PRIORITY: Condition<Model> = Condition {
    name: "an arbitration p-X-Y",
    holds: |model| matches!(model.arbitration, Arbitration::Priority(..)) && model.has_lock_to_wait_for(),
};
const COMBINING: Condition<Model> = Condition {
    name: "execution \"csync\", \"dsm-synch\" or \"lockq\"",
    holds: |model| matches!(model.execution, Execution::CSync | Execution::DsmSynch | Execution::LockQ),
};
pub(super) const ENTERING: Condition<Model> = Condition {
    name: "granularity \"per-vni\", \"per-channel\", \"brief-global\" or \"per-object\", without offload threads",
    holds: Model::has_progress_entries,
};
const POSTING: Condition<Model> =
    Condition { name: "execution \"lockq\"", holds: |model| model.execution == Execution::LockQ };
const GIVING_UP: Condition<Model> = Condition {
    name: "granularity \"per-vni\", \"per-channel\", \"brief-global\" or \"global\" and bias \"none\", with an arbitration whose waiters can give up \
           (mutex, clh, abortable-mcs, hmcs)",
    holds: Model::waiters_give_up,
};
const TRYING: Condition<Model> = Condition {
    name: "granularity \"per-vni\", \"per-channel\" or \"brief-global\", without offload threads: elsewhere no test finds a critical section \
           taken and gives up",
    holds: Model::tests_try,
};

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
        (self.granularity.is_by_vni()
            || matches!(self.granularity, Granularity::BriefGlobal | Granularity::Global))
            && self.execution == Execution::Caller
            && self.bias == Bias::None
            && LockName::Single(kind).is_timed()
    }

    /// Returns true if a test tries a critical section of its VNI. Under the other granularities it waits for
    /// that of the call, or tries many, each for a moment.
    pub(super) fn tests_try(&self) -> bool {
        (self.granularity.is_by_vni() || self.granularity == Granularity::BriefGlobal) && !self.is_offloaded()
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
        threads && self.granularity.is_by_vni() && self.execution == Execution::Caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_of_test_patience_and_its_condition_name_the_locks_whose_waiters_give_up() {
        let part = PARTS.iter().find(|part| part.about.variable == "HEDDLE_TEST_PATIENCE").expect("a part");
        for text in [part.about.meaning, GIVING_UP.name] {
            let words: Vec<&str> =
                text.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
            for kind in LockKind::ALL.iter().filter(|kind| !kind.name().starts_with("strict-")) {
                let (name, gives_up) = (kind.name(), kind.is_timed());
                assert_eq!(
                    words.contains(&name),
                    gives_up,
                    "{name} gives up: {gives_up}, but here it says: {text}"
                );
            }
        }
    }
}
