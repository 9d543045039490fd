//! Heddle's models.

use super::arbitration::Arbitration;
use super::model::Model;
use super::named::{BASE, MUTEX, Named, Origin, by, global, waiting};
use super::options::{Bias, Execution, Granularity, WakeUp};
use heddle_locks::kinds::LockKind;

const MCS: Arbitration = Arbitration::One(LockKind::Mcs);

/// Heddle's models, the default first.
pub const OWN: &[Named] = &[
    Named {
        name: "auto",
        model: Model { granularity: Granularity::PerChannel, bias: Bias::Thread, ..BASE },
        meaning: "the default: a mutex for each VNI and one for each channel to a peer, each biased to the only thread that uses it",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-vni-mutex",
        model: Model { bias: Bias::Thread, ..BASE },
        meaning: "a mutex for each VNI, biased to the only thread that uses it",
        origin: Origin::Heddle,
    },
    Named {
        name: "global-mutex",
        model: Model { bias: Bias::Thread, ..global(MUTEX) },
        meaning: "one mutex around every call, biased to the only thread that uses it",
        origin: Origin::Heddle,
    },
    Named {
        name: "global-mcs",
        model: global(MCS),
        meaning: "one MCS lock around every call",
        origin: Origin::Heddle,
    },
    Named {
        name: "global-p-mcs-mcs",
        model: global(Arbitration::Priority(LockKind::Mcs, LockKind::Mcs)),
        meaning: "one two-level priority lock around every call",
        origin: Origin::Heddle,
    },
    Named {
        name: "brief-global",
        model: Model { granularity: Granularity::BriefGlobal, ..BASE },
        meaning: "one mutex where shared state is touched",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-object",
        model: Model { granularity: Granularity::PerObject, ..BASE },
        meaning: "a mutex for each channel to a peer, each part of the matching, each kind of large transfer",
        origin: Origin::Heddle,
    },
    Named {
        name: "lock-free",
        model: Model { granularity: Granularity::LockFree, ..BASE },
        meaning: "no small send, and no receive that finds its message, waits for a lock",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-vni-ticket",
        model: by(Arbitration::One(LockKind::Ticket)),
        meaning: "a ticket lock for each VNI",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-vni-mcs",
        model: by(MCS),
        meaning: "an MCS lock for each VNI",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-vni-clh",
        model: by(Arbitration::One(LockKind::Clh)),
        meaning: "a CLH lock for each VNI",
        origin: Origin::Heddle,
    },
    Named {
        name: "per-vni-hmcs",
        model: by(Arbitration::One(LockKind::Hmcs)),
        meaning: "a hierarchical MCS lock for each VNI",
        origin: Origin::Heddle,
    },
    Named {
        name: "hmcs-usc",
        model: Model { wake_up: WakeUp::Counter, ..by(Arbitration::One(LockKind::Hmcs)) },
        meaning: "like per-vni-hmcs, and waiters sleep on counters",
        origin: Origin::Heddle,
    },
    Named {
        name: "p-mcs-mcs",
        model: waiting(by(Arbitration::Priority(LockKind::Mcs, LockKind::Mcs))),
        meaning: "for each VNI, issuing threads before waiting threads",
        origin: Origin::Heddle,
    },
    Named {
        name: "p-hmcs-mcs",
        model: waiting(by(Arbitration::Priority(LockKind::Hmcs, LockKind::Mcs))),
        meaning: "like p-mcs-mcs, with HMCS among the issuing threads",
        origin: Origin::Heddle,
    },
    Named {
        name: "csync",
        model: Model { execution: Execution::CSync, ..by(MCS) },
        meaning: "an operation that finds a thread inside is combined: that thread runs it",
        origin: Origin::Heddle,
    },
    Named {
        name: "lockq-mcs",
        model: Model { execution: Execution::LockQ, ..by(MCS) },
        meaning: "try an MCS lock, else post and leave",
        origin: Origin::Heddle,
    },
    Named {
        name: "lockq-mtx",
        model: Model { execution: Execution::LockQ, ..by(MUTEX) },
        meaning: "try a mutex, else post and leave",
        origin: Origin::Heddle,
    },
    Named {
        name: "offload",
        model: Model { execution: Execution::Offload, wake_up: WakeUp::Counter, ..by(MUTEX) },
        meaning: "a thread for each VNI, which also makes progress while no thread calls MPI",
        origin: Origin::Heddle,
    },
];
