//! The experiments of Amer et al. (slides, ICS 2019): software combining beside locks and offloading.

use super::contention::searches;
use super::experiment::Needs::Threads;
use super::experiment::{Claim, Experiment, Paper};
use super::measured::finding;
use super::system::{System, heddle, paper};
use super::view::{Along, Quantity, View};
use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::report::target::number;
use crate::report::verdict::Verdict;

const GLOBAL: &str = "Global";
const PER_VNI: &str = "Per-VNI";
const OFFLOAD: &str = "Offload";
const HMCS_USC: &str = "HMCS<N>USC";
const CSYNC: &str = "CSync";
const LOCKQ_MCS: &str = "LockQ-MCS";
const LOCKQ_MTX: &str = "LockQ-MTX";
const LOCKS: [&str; 3] = [GLOBAL, PER_VNI, HMCS_USC];
const LOCKQ: [&str; 2] = [LOCKQ_MCS, LOCKQ_MTX];

const SYSTEMS: &[System] = &[
    paper(GLOBAL, "topc2019-mcs"),
    paper(PER_VNI, "ics2019-per-vni"),
    paper(OFFLOAD, "ics2019-offload"),
    paper(HMCS_USC, "ics2019-hmcs-usc"),
    paper(CSYNC, "ics2019-csync"),
    paper(LOCKQ_MCS, "ics2019-lockq-mcs"),
    paper(LOCKQ_MTX, "ics2019-lockq-mtx"),
    heddle("csync"),
    heddle("lockq-mcs"),
    heddle("offload"),
];

const RATE: View = View {
    title: "messages a second, 64 bytes",
    bench: "rate",
    op: "isend",
    shows: Quantity::Value,
    along: Along::Threads,
};
const COMBINED: View = RATE.showing(
    "operations run for other threads, a message",
    Quantity::Further("heddle_operations_for_others", 1.0),
);
const SEARCH: View = View {
    title: "Graph500 with MPI_Test: edges a second",
    bench: "graph500",
    op: "bfs",
    shows: Quantity::Value,
    along: Along::Threads,
};

/// The experiments, in the slides' order.
pub(super) static EXPERIMENTS: [Experiment; 2] = [
    Experiment {
        paper: Paper::Combining,
        names: &["rates"],
        title: "Message rate of all models, and how much is combined",
        note: "The slides have two nodes of 56 cores and a network between them; here both processes are on one machine. \
               Their chart has no figures in words; the statements are those of the slides.",
        systems: SYSTEMS,
        cases: |points| {
            let of = |&n: &u32| Case::new(Subject::Rate, 2, &[64]).threads(n, Comms::Shared);
            points.threads.iter().map(of).collect()
        },
        locks: &[],
        pvars: &["heddle_operations_for_others"],
        misses: false,
        cores: |n| 2 * n,
        views: &[RATE, COMBINED],
        claims: &[
            Claim {
                figure: "message rate",
                text: "combining has a high throughput without knowing the hardware: LockQ is above the locks",
                needs: Threads(4),
                check: |m, n| {
                    let (lockq, lock) = (m.extremes(&RATE, &LOCKQ, n)?.1, m.extremes(&RATE, &LOCKS, n)?.1);
                    let ratio = lockq.1 / lock.1;
                    finding(
                        format!("{n} threads: {} {ratio:.2} times {}", lockq.0, lock.0),
                        Verdict::of(ratio > 1.0),
                    )
                },
            },
            Claim {
                figure: "message rate",
                text: "offloading is the upper bound under contention",
                needs: Threads(4),
                check: |m, n| {
                    let all = [PER_VNI, HMCS_USC, CSYNC, LOCKQ_MCS, LOCKQ_MTX];
                    let best = m.extremes(&RATE, &all, n)?.1;
                    let ratio = m.at(OFFLOAD, &RATE, n)? / best.1;
                    finding(
                        format!("{n} threads: {ratio:.2} times the best other, {}", best.0),
                        Verdict::of(ratio > 0.95),
                    )
                },
            },
            Claim {
                figure: "CSync",
                text: "under contention threads run operations for each other",
                needs: Threads(2),
                check: |m, n| {
                    let rate = m.at(CSYNC, &COMBINED, n)?;
                    finding(
                        format!("{n} threads: {} for each message", number(rate)),
                        Verdict::of(rate > 0.1),
                    )
                },
            },
        ],
    },
    Experiment {
        paper: Paper::Combining,
        names: &["graph500"],
        title: "The worst case of contention: a breadth-first search with MPI_Test",
        note: "Two processes of n threads; the slides have 35 threads in each of up to 16 processes.",
        systems: SYSTEMS,
        cases: searches,
        locks: &[],
        pvars: &[],
        misses: false,
        cores: |n| 2 * n,
        views: &[SEARCH],
        claims: &[
            Claim {
                figure: "Graph500",
                text: "LockQ outperforms CSync and the models of locks",
                needs: Threads(4),
                check: |m, n| {
                    let others = [GLOBAL, PER_VNI, HMCS_USC, CSYNC];
                    let (lockq, other) =
                        (m.extremes(&SEARCH, &LOCKQ, n)?.1, m.extremes(&SEARCH, &others, n)?.1);
                    let ratio = lockq.1 / other.1;
                    finding(
                        format!("{n} threads: {} {ratio:.2} times {}", lockq.0, other.0),
                        Verdict::of(ratio > 1.0),
                    )
                },
            },
            Claim {
                figure: "Graph500",
                text: "Offload significantly outperforms every other method",
                needs: Threads(4),
                check: |m, n| {
                    let others = [GLOBAL, PER_VNI, HMCS_USC, CSYNC, LOCKQ_MCS, LOCKQ_MTX];
                    let best = m.extremes(&SEARCH, &others, n)?.1;
                    let ratio = m.at(OFFLOAD, &SEARCH, n)? / best.1;
                    finding(
                        format!("{n} threads: {ratio:.2} times the best other, {}", best.0),
                        Verdict::of(ratio > 1.1),
                    )
                },
            },
        ],
    },
];
