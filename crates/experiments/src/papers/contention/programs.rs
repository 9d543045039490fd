//! Thresholds, sizes of messages, and the sweeps of a proxy application (sections 5.1 to 5.3, Figs. 8 and 9).

use super::systems::{
    BYTES, FAIR_PROGRESS, HMCS, HMCS_SYSTEM, LATENCY, MCS, MCS_SYSTEM, MUTEX, MUTEX_SYSTEM, NOTE, P_HMCS_MCS,
    P_HMCS_MCS_SYSTEM, P_MCS_MCS, P_MCS_MCS_SYSTEM, RATE, TICKET, TICKET_SYSTEM, clients, less, rate,
};
use crate::bench::case::{Case, Comms, KIB};
use crate::bench::subject::Subject;
use crate::papers::experiment::Needs::{Nodes, Threads};
use crate::papers::experiment::{Claim, Experiment, Paper, Points, Within};
use crate::papers::measured::finding;
use crate::papers::system::{heddle, paper};
use crate::papers::view::{Along, Quantity, View};
use crate::report::verdict::Verdict;

const SIZES: [u64; 6] = [8, 64, 512, 4 * KIB, 8 * KIB, 32 * KIB];
const RATE_BY_SIZE: View = RATE.of_sizes("Fig. 8a: messages a second, all threads");
const LATENCY_BY_SIZE: View = LATENCY.of_sizes("Fig. 8b: latency one way (us), all threads");
const SWEEP: View = View {
    title: "Fig. 9: time by a cell, angle and group (ns), messages of 8 KiB, four processes",
    bench: "sweep",
    op: "coarse",
    shows: Quantity::Value,
    along: Along::Threads,
};

const THRESHOLDS: [&str; 5] = ["HMCS 1", "HMCS 4", "HMCS 16", "HMCS 64", "HMCS 256"];

/// The number of threads with which sizes are compared: the most that have a core each, at least two.
fn all_threads(points: &Points) -> u32 {
    points.threads.iter().copied().filter(|&n| 2 * n <= points.cores).max().unwrap_or(2).max(2)
}

/// The experiments.
pub(super) static EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        paper: Paper::Contention,
        names: &["thresholds"],
        title: "The threshold of HMCS: how many times in a row threads near each other pass the lock on",
        note: "Section 5.1 has tuned it with 10 cache lines in the critical section; here it is the library under the \
               throughput-bound program. On a machine of one level the threshold only bounds how long the queue is kept \
               for the root's lock.",
        systems: &[
            paper("HMCS 1", "topc2019-hmcs+COHORT_THRESHOLD=1"),
            paper("HMCS 4", "topc2019-hmcs+COHORT_THRESHOLD=4"),
            paper("HMCS 16", "topc2019-hmcs+COHORT_THRESHOLD=16"),
            paper("HMCS 64", "topc2019-hmcs+COHORT_THRESHOLD=64"),
            paper("HMCS 256", "topc2019-hmcs"),
            heddle("per-vni-hmcs"),
        ],
        cases: |points| points.threads.iter().map(|&n| rate(n, &BYTES)).collect(),
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| 2 * n,
        views: &[RATE.showing("Section 5.1: messages a second, by threshold", Quantity::Value)],
        claims: &[Claim {
            figure: "Section 5.1",
            text: "256 is the least threshold with 95 % of the highest throughput",
            needs: Nodes(4),
            check: |m, n| {
                let most = m.extremes(&RATE, &THRESHOLDS, n)?.1.1;
                let rates: Option<Vec<f64>> = THRESHOLDS.iter().map(|label| m.at(label, &RATE, n)).collect();
                let enough = rates?.iter().position(|&rate| rate >= 0.95 * most)?;
                let verdict = if enough == 4 { Verdict::Agrees } else { Verdict::Differs };
                finding(format!("{n} threads: {}", THRESHOLDS[enough]), verdict)
            },
        }],
    },
    Experiment {
        paper: Paper::Contention,
        names: &["fig8"],
        title: "Sizes of messages, with all threads",
        note: NOTE,
        systems: &[
            MUTEX_SYSTEM,
            MCS_SYSTEM,
            HMCS_SYSTEM,
            P_MCS_MCS_SYSTEM,
            P_HMCS_MCS_SYSTEM,
            heddle("global-mutex"),
            heddle("p-hmcs-mcs"),
        ],
        cases: |points| {
            let n = all_threads(points);
            vec![clients(n, &SIZES), rate(n, &SIZES)]
        },
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| 2 * n,
        views: &[RATE_BY_SIZE, LATENCY_BY_SIZE],
        claims: &[
            Claim {
                figure: "Fig. 8",
                text: "the locks differ more below 8 KiB than above",
                needs: Threads(8),
                check: |m, _| {
                    let locks = [MUTEX, MCS, HMCS, P_MCS_MCS, P_HMCS_MCS];
                    let gap = |size| {
                        let (least, most) = m.extremes(&RATE_BY_SIZE, &locks, size)?;
                        Some(most.1 / least.1)
                    };
                    let (small, large) = (gap(64)?, gap(32 << 10)?);
                    finding(
                        format!("the fastest over the slowest: {small:.2} at 64 bytes, {large:.2} at 32 KiB"),
                        Verdict::of(small > large),
                    )
                },
            },
            Claim {
                figure: "Fig. 8",
                text: "MCS, P-MCS-MCS and P-HMCS-MCS do not differ in large messages",
                needs: Threads(8),
                check: |m, _| {
                    let (least, most) = m.extremes(&RATE_BY_SIZE, &FAIR_PROGRESS, 32 << 10)?;
                    let gap = most.1 / least.1;
                    finding(format!("32 KiB: within a factor of {gap:.2}"), Verdict::of(gap < 1.2))
                },
            },
        ],
    },
    Experiment {
        paper: Paper::Contention,
        names: &["fig9"],
        title: "Transport sweeps over a grid of processes, with many threads in each",
        note: "The paper has SNAP with 2 to 12 processes of 88 threads, each on a node of its own; here it is a \
               Fortran program with SNAP's pattern, the angles, chunks and sizes of Table 2 in a smaller domain, and four \
               processes of one machine. Open MPI 5 has no library of the standard ABI, and so is missing.",
        systems: &[
            MUTEX_SYSTEM,
            TICKET_SYSTEM,
            MCS_SYSTEM,
            HMCS_SYSTEM,
            P_MCS_MCS_SYSTEM,
            P_HMCS_MCS_SYSTEM,
            heddle("global-mutex"),
            heddle("p-hmcs-mcs"),
        ],
        cases: |points| {
            let sweep = |&n: &u32| Case::new(Subject::Sweep, 4, &[8 * KIB]).threads(n, Comms::Shared);
            points.threads.iter().map(sweep).collect()
        },
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| 4 * n,
        views: &[SWEEP],
        claims: &[
            Claim {
                figure: "Fig. 9",
                text: "where communication dominates, the mutex and HMCS are the slowest",
                needs: Nodes(4),
                check: |m, n| less(m, &SWEEP, &FAIR_PROGRESS, &[MUTEX, HMCS], n),
            },
            Claim {
                figure: "Fig. 9",
                text: "MCS is the fastest, and P-HMCS-MCS performs closely to it",
                needs: Threads(4),
                check: |m, n| {
                    let all = [MUTEX, TICKET, MCS, HMCS, P_MCS_MCS, P_HMCS_MCS];
                    let (least, _) = m.extremes(&SWEEP, &all, n)?;
                    let (mcs, pair) =
                        (m.at(MCS, &SWEEP, n)? / least.1, m.at(P_HMCS_MCS, &SWEEP, n)? / least.1);
                    finding(
                        format!(
                            "{n} threads, over the fastest ({}): MCS {mcs:.2}, P-HMCS-MCS {pair:.2}",
                            least.0
                        ),
                        Verdict::of_both(mcs <= 1.05, pair <= 1.15),
                    )
                },
            },
        ],
    },
];
