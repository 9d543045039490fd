//! The systems of the papers, in the papers' form.
//!
//! The name of each begins with that of its paper. What a paper does not speak of is as in Heddle's models:
//! the transport, the matching and, except in the papers of 2010, the lifetimes of objects. In all of them
//! waiters spin, yield, and then sleep, because there may be more threads than cores.

use super::arbitration::Arbitration;
use super::model::Model;
use super::named::{BASE, MUTEX, Named, Origin, by, global, waiting};
use super::options::{
    Execution, Granularity, Lifetime, ReferenceCounts, RequestPool, Requests, TestBackoff, WakeUp,
};
use super::threshold::CollectThreshold;
use heddle_locks::hmcs::Thresholds;
use heddle_locks::kinds::LockKind;

const MCS: Arbitration = Arbitration::One(LockKind::StrictMcs);

/// The threshold of HMCS at all levels (Amer et al., TOPC 2019, section 5.1).
const COHORT_THRESHOLDS: Thresholds = Thresholds::at_all_levels(256);

const HMCS: Model =
    Model { cohort_thresholds: COHORT_THRESHOLDS, ..by(Arbitration::One(LockKind::StrictHmcs)) };

/// The difference between the two-level lock and Fig. 5 of the paper.
const FILTER: Option<&str> = Some(
    "the filter is a word for which the heads of both classes wait, not a ticket lock; a waiting thread gets its turn after \
     HEDDLE_LOW_BOUND issuing ones",
);

/// In the systems of 2010 every nonblocking send has a request, and requests count references to all objects.
const fn of_2010(
    granularity: Granularity,
    request_pool: RequestPool,
    reference_counts: ReferenceCounts,
) -> Model {
    Model {
        granularity,
        request_pool,
        reference_counts,
        lifetime: Lifetime::Naive,
        requests: Requests::Always,
        ..waiting(BASE)
    }
}

const fn per_object(request_pool: RequestPool, reference_counts: ReferenceCounts) -> Model {
    of_2010(Granularity::PerObject, request_pool, reference_counts)
}

const PER_OBJECT_TLP_ATOM: Model = per_object(RequestPool::ThreadLocal, ReferenceCounts::Atomic);

/// LockQ over a lock.
const fn lock_queue(arbitration: Arbitration) -> Model {
    Model {
        execution: Execution::LockQ,
        post_tries: 0,
        test_backoff: TestBackoff::Exponential,
        ..waiting(by(arbitration))
    }
}

const fn paper(
    name: &'static str,
    source: &'static str,
    meaning: &'static str,
    model: Model,
    departure: Option<&'static str>,
) -> Named {
    Named { name, model, meaning, origin: Origin::Paper { source, departure } }
}

/// The systems of the papers.
pub const PUBLISHED: &[Named] = &[
    paper(
        "ijhpca2010-global",
        "Balaji et al., IJHPCA 2010: Global",
        "one mutex around every call, left while the call waits",
        Model {
            lifetime: Lifetime::Naive,
            request_pool: RequestPool::Shared,
            requests: Requests::Always,
            reference_counts: ReferenceCounts::Locked,
            ..global(MUTEX)
        },
        None,
    ),
    paper(
        "ijhpca2010-brief-global",
        "Balaji et al., IJHPCA 2010: Brief Global",
        "one mutex, entered only where shared state is touched, the request pool and the reference counts included",
        of_2010(Granularity::BriefGlobal, RequestPool::Shared, ReferenceCounts::Locked),
        ONE_LESS,
    ),
    paper(
        "ijhpca2010-per-object",
        "Balaji et al., IJHPCA 2010: Per Object",
        "a mutex for each object: channel to a peer, part of the matching, request pool, reference counts",
        per_object(RequestPool::Shared, ReferenceCounts::Locked),
        ONE_LESS,
    ),
    paper(
        "ijhpca2010-per-object-tlp",
        "Balaji et al., IJHPCA 2010: Per-Object tlp",
        "per object, with a request pool for each thread and locked reference counts",
        per_object(RequestPool::ThreadLocal, ReferenceCounts::Locked),
        ONE_LESS,
    ),
    paper(
        "ijhpca2010-per-object-atom",
        "Balaji et al., IJHPCA 2010, section 5.3: the other half of Per-Object tlp atom",
        "per object, with one request pool and atomic reference counts",
        per_object(RequestPool::Shared, ReferenceCounts::Atomic),
        None,
    ),
    paper(
        "ijhpca2010-per-object-tlp-atom",
        "Balaji et al., IJHPCA 2010: Per-Object tlp atom; Goodell et al., CLUSTER 2010: naive reference counting",
        "per object, with a request pool for each thread and atomic reference counts",
        PER_OBJECT_TLP_ATOM,
        ONE_LESS,
    ),
    paper(
        "cluster2010-suppress",
        "Goodell et al., CLUSTER 2010, section V.A",
        "per object tlp atom, and references to predefined objects are not counted",
        Model { lifetime: Lifetime::Suppress, ..PER_OBJECT_TLP_ATOM },
        None,
    ),
    paper(
        "cluster2010-collect",
        "Goodell et al., CLUSTER 2010, section V.B",
        "per object tlp atom, and freed objects are collected, so that requests count nothing",
        Model {
            lifetime: Lifetime::Collect,
            collect_threshold: CollectThreshold::Number(STATIC_THRESHOLD),
            ..PER_OBJECT_TLP_ATOM
        },
        COLLECTED,
    ),
    paper(
        "topc2019-mutex",
        "Amer et al., TOPC 2019: Mutex",
        "one mutex around every call, left while the call waits",
        global(MUTEX),
        Some("the mutex is Heddle's, not the C library's"),
    ),
    paper(
        "topc2019-ticket",
        "Amer et al., TOPC 2019: Ticket",
        "one ticket lock around every call",
        global(Arbitration::One(LockKind::StrictTicket)),
        None,
    ),
    paper(
        "topc2019-mcs",
        "Amer et al., TOPC 2019: MCS; Amer et al., ICS 2019: Global",
        "one MCS lock around every call",
        global(MCS),
        None,
    ),
    paper(
        "topc2019-hmcs",
        "Amer et al., TOPC 2019: HMCS",
        "one hierarchical MCS lock around every call",
        Model { cohort_thresholds: COHORT_THRESHOLDS, ..global(Arbitration::One(LockKind::StrictHmcs)) },
        None,
    ),
    paper(
        "topc2019-p-mcs-mcs",
        "Amer et al., TOPC 2019, section 4: P-MCS-MCS",
        "one two-level lock around every call: issuing threads before waiting ones",
        global(Arbitration::Priority(LockKind::StrictMcs, LockKind::StrictMcs)),
        FILTER,
    ),
    paper(
        "topc2019-p-hmcs-mcs",
        "Amer et al., TOPC 2019, section 4: P-HMCS-MCS",
        "one two-level lock around every call, with HMCS among the issuing threads",
        Model {
            cohort_thresholds: COHORT_THRESHOLDS,
            ..global(Arbitration::Priority(LockKind::StrictHmcs, LockKind::StrictMcs))
        },
        FILTER,
    ),
    paper(
        "ics2019-per-vni",
        "Amer et al., ICS 2019: Per-VNI",
        "an MCS lock for each VNI, for which waiting threads wait as well",
        waiting(by(MCS)),
        None,
    ),
    paper(
        "ics2019-hmcs-usc",
        "Amer et al., ICS 2019: HMCS<N>USC",
        "a hierarchical MCS lock for each VNI, and O(1) wake-up by synchronization counters",
        Model { wake_up: WakeUp::Counter, ..waiting(HMCS) },
        None,
    ),
    paper(
        "ics2019-csync",
        "Amer et al., ICS 2019: CSync",
        "every operation and every poll for progress goes through the queue of DSM-Synch",
        Model { execution: Execution::DsmSynch, ..waiting(BASE) },
        Some("a combiner runs the last request of the queue as well"),
    ),
    paper(
        "ics2019-lockq-mcs",
        "Amer et al., ICS 2019: LockQ-MCS",
        "try an MCS lock, else post the operation and leave; waiting threads wait for the lock, tests back off",
        lock_queue(MCS),
        POSTED,
    ),
    paper(
        "ics2019-lockq-mtx",
        "Amer et al., ICS 2019: LockQ-MTX",
        "try a mutex, else post the operation and leave; waiting threads wait for the mutex, tests back off",
        lock_queue(MUTEX),
        POSTED,
    ),
    paper(
        "ics2019-offload",
        "Amer et al., ICS 2019: Offload",
        "a thread for each VNI runs all operations, and waiting threads watch their requests",
        Model { execution: Execution::Offload, ..by(MUTEX) },
        Some("a waiting thread runs operations itself while the offload thread has no core"),
    ),
];

/// The difference between the acquisitions of a nonblocking send and Table 1 of the paper
/// (`tests/c/papers_table1.c`).
const ONE_LESS: Option<&str> = Some(
    "a nonblocking send and its completion acquire one mutex less than in Table 1 (7, 7, 5 and 1 under Brief Global, Per Object, tlp \
     and tlp atom; the paper has 8, 8, 6 and 2), which does not say of which object",
);

/// The number of freed objects that starts a collection when a program makes another object. The paper has a
/// static one, and does not say which. Like there, a collection also runs in `MPI_Finalize`. The paper calls
/// the call that frees an object another possible point, and has not tried it.
const STATIC_THRESHOLD: u32 = 32;

/// The differences between the collector and that of the paper.
const COLLECTED: Option<&str> = Some(
    "the paper does not say its threshold: 32 freed objects more than the last collection had to keep; a failed allocation starts \
     no collection, because objects come from the process's heap, not from a pool, and without memory the process ends; no lock is \
     held while requests are scanned, so a thread that dies does not block the others",
);

/// The difference between LockQ and the slides.
const POSTED: Option<&str> =
    Some("a holder looks for posts once more after its release, so none waits for a completion call");
