//! Models with names: those of the papers, and the default.

use super::arbitration::Arbitration;
use super::error::ModelError;
use super::model::Model;
use super::options::{
    Bias, Execution, Granularity, Lifetime, OffloadThreads, ReferenceCounts, RequestPool, WakeUp,
};
use super::threshold::CollectThreshold;
use heddle_locks::kinds::LockKind;

/// A model with a name.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The model.
    pub model: Model,
    /// A description of the model, and its source.
    pub meaning: &'static str,
}

/// The parts that the models below share unless they set them.
const BASE: Model = Model {
    granularity: Granularity::PerVni,
    arbitration: Arbitration::One(LockKind::Mutex),
    bias: Bias::None,
    execution: Execution::Caller,
    offload_threads: OffloadThreads::PerVni,
    wake_up: WakeUp::Blind,
    lifetime: Lifetime::Collect,
    collect_threshold: CollectThreshold::Adaptive,
    request_pool: RequestPool::ThreadLocal,
    reference_counts: ReferenceCounts::Atomic,
    cohort_threshold: heddle_locks::hmcs::DEFAULT_THRESHOLD,
    low_bound: heddle_locks::two_level::LOW_BOUND,
    combining_limit: heddle_combining::lock_queue::DEFAULT_THRESHOLD,
    post_tries: 10,
    test_patience_us: 0,
};

const fn by(arbitration: Arbitration) -> Model {
    Model { arbitration, ..BASE }
}

const fn global(arbitration: Arbitration) -> Model {
    Model { granularity: Granularity::Global, ..by(arbitration) }
}

const MUTEX: Arbitration = Arbitration::One(LockKind::Mutex);
const MCS: Arbitration = Arbitration::One(LockKind::Mcs);

/// All models with names, the default first.
pub const NAMED: &[Named] = &[
    Named {
        name: "per-vni-mutex",
        model: Model { bias: Bias::Thread, ..BASE },
        meaning: "the default: a mutex for each VNI, biased to the only thread that uses it",
    },
    Named {
        name: "global-mutex",
        model: Model { bias: Bias::Thread, ..global(MUTEX) },
        meaning: "one mutex around every call, biased to the only thread that uses it",
    },
    Named {
        name: "global-mcs",
        model: global(MCS),
        meaning: "one MCS lock around every call (Amer et al., TOPC 2019)",
    },
    Named {
        name: "global-p-mcs-mcs",
        model: global(Arbitration::Priority(LockKind::Mcs, LockKind::Mcs)),
        meaning: "one two-level priority lock around every call (Amer et al., TOPC 2019)",
    },
    Named {
        name: "brief-global",
        model: Model { granularity: Granularity::BriefGlobal, ..BASE },
        meaning: "one mutex where shared state is touched (Balaji et al., IJHPCA 2010)",
    },
    Named {
        name: "per-object",
        model: Model { granularity: Granularity::PerObject, ..BASE },
        meaning: "a mutex for each channel to a peer, each part of the matching, each kind of large transfer (Balaji et al., IJHPCA 2010: Per-Object tlp atom)",
    },
    Named {
        name: "lock-free",
        model: Model { granularity: Granularity::LockFree, ..BASE },
        meaning: "no small send, and no receive that finds its message, waits for a lock (Balaji et al., IJHPCA 2010: Lock Free)",
    },
    Named {
        name: "per-vni-ticket",
        model: by(Arbitration::One(LockKind::Ticket)),
        meaning: "a ticket lock for each VNI",
    },
    Named {
        name: "per-vni-mcs",
        model: by(MCS),
        meaning: "an MCS lock for each VNI (Amer et al., ICS 2019: Per-VNI)",
    },
    Named {
        name: "per-vni-clh",
        model: by(Arbitration::One(LockKind::Clh)),
        meaning: "a CLH lock for each VNI",
    },
    Named {
        name: "per-vni-hmcs",
        model: by(Arbitration::One(LockKind::Hmcs)),
        meaning: "a hierarchical MCS lock for each VNI",
    },
    Named {
        name: "hmcs-usc",
        model: Model { wake_up: WakeUp::Counter, ..by(Arbitration::One(LockKind::Hmcs)) },
        meaning: "like per-vni-hmcs, and waiters sleep on counters (Amer et al., ICS 2019: HMCS<N>USC)",
    },
    Named {
        name: "p-mcs-mcs",
        model: by(Arbitration::Priority(LockKind::Mcs, LockKind::Mcs)),
        meaning: "for each VNI, issuing threads before waiting threads (Amer et al., TOPC 2019)",
    },
    Named {
        name: "p-hmcs-mcs",
        model: by(Arbitration::Priority(LockKind::Hmcs, LockKind::Mcs)),
        meaning: "like p-mcs-mcs, with HMCS among the issuing threads",
    },
    Named {
        name: "csync",
        model: Model { execution: Execution::CSync, ..by(MCS) },
        meaning: "operations are always combined (Amer et al., ICS 2019: CSync)",
    },
    Named {
        name: "lockq-mcs",
        model: Model { execution: Execution::LockQ, ..by(MCS) },
        meaning: "try an MCS lock, else post and leave (Amer et al., ICS 2019: LockQ-MCS)",
    },
    Named {
        name: "lockq-mtx",
        model: Model { execution: Execution::LockQ, ..by(MUTEX) },
        meaning: "try a mutex, else post and leave (Amer et al., ICS 2019: LockQ-MTX)",
    },
    Named {
        name: "offload",
        model: Model { execution: Execution::Offload, wake_up: WakeUp::Counter, ..by(MUTEX) },
        meaning: "a thread for each VNI, which also makes progress while no thread calls MPI (Amer et al., ICS 2019: Offload)",
    },
];

impl Default for Model {
    fn default() -> Model {
        NAMED[0].model
    }
}

impl Model {
    /// The names of all models, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|named| named.name)
    }

    /// The model with the name.
    ///
    /// # Errors
    /// [`ModelError::Unknown`].
    pub fn named(name: &str) -> Result<Model, ModelError> {
        match NAMED.iter().find(|named| named.name == name) {
            Some(named) => Ok(named.model),
            None => Err(ModelError::Unknown { name: name.to_owned() }),
        }
    }
}
