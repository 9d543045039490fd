//! The experiments of Amer et al. (slides, ICS 2019): software combining beside locks and offloading.

use super::contention::searches;
use super::experiment::Needs::Threads;
use super::experiment::{Claim, Experiment, Paper, Points, Within};
use super::measured::{Measured, finding};
use super::system::{System, alone, heddle, paper};
use super::view::{Along, Quantity, View};
use crate::bench::case::{Case, Comms, KIB};
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
const ALL: [&str; 7] = [GLOBAL, PER_VNI, OFFLOAD, HMCS_USC, CSYNC, LOCKQ_MCS, LOCKQ_MTX];
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

const SWEEP: View = View {
    title: "SNAP's pattern: time by a cell, angle and group (ns)",
    bench: "sweep",
    op: "coarse",
    shows: Quantity::Value,
    along: Along::Processes,
};
const QUEUE: View = View {
    title: "one FIFO queue: enqueues and dequeues a second",
    bench: "queue",
    op: "fifo",
    shows: Quantity::Value,
    along: Along::Threads,
};

const MCS: &str = "MCS";
const DSM: &str = "DSM-Synch";
const MUTEX: &str = "Pthread mutex";
const OFFLOADED: &str = "a thread for all operations";

/// The threads of all processes together in [`sweeps`]: the most that have a core each, at least four.
fn sweep_threads(points: &Points) -> u32 {
    points.threads.iter().copied().filter(|&n| n <= points.cores).max().unwrap_or(4).max(4)
}

/// Sweeps by more and more processes with fewer and fewer threads each. One process alone has no messages.
fn sweeps(points: &Points) -> Vec<Case> {
    let all = sweep_threads(points);
    let ranks = (1..=all.ilog2()).map(|power| 1 << power).take_while(|&ranks| ranks <= points.ranks);
    ranks
        .map(|ranks| Case::new(Subject::Sweep, ranks, &[8 * KIB]).threads(all / ranks, Comms::Shared))
        .collect()
}

/// The number of processes with which a system is fastest.
fn best_processes(m: &Measured<'_>, label: &str) -> Option<u64> {
    let times = m.places(&SWEEP).into_iter().map(|place| Some((place, m.point(label, &SWEEP, place)?.0)));
    let times: Vec<(u64, f64)> = times.collect::<Option<_>>()?;
    times.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

/// The experiments, in the slides' order.
pub(super) static EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        paper: Paper::Combining,
        names: &["queue"],
        title: "A queue under a lock, and under combining",
        note: "The slides have 56 cores, and their chart no figures in words. No MPI takes part: the queue, the locks and \
               the combinings are in one process, as in `heddle bench locks fifo`.",
        systems: &[
            alone(MCS, "strict-mcs"),
            alone(DSM, "dsm-synch"),
            alone(LOCKQ_MCS, "lockq-mcs"),
            alone(LOCKQ_MTX, "lockq-mutex"),
            alone(OFFLOADED, "offload"),
            alone(MUTEX, "pthread"),
        ],
        cases: |_| Vec::new(),
        within: Within::Queues(&[
            ("strict-mcs", MCS),
            ("dsm-synch", DSM),
            ("lockq-mcs", LOCKQ_MCS),
            ("lockq-mutex", LOCKQ_MTX),
            ("offload", OFFLOADED),
            ("pthread", MUTEX),
        ]),
        pvars: &[],
        misses: false,
        cores: |n| n,
        views: &[QUEUE],
        claims: &[Claim {
            figure: "FIFO queue",
            text: "DSM-Synch, which extends MCS with combining, has a higher throughput than MCS",
            needs: Threads(4),
            check: |m, n| {
                let ratio = m.ratio(&QUEUE, DSM, MCS, n)?;
                finding(
                    format!("{n} threads: {ratio:.2} times; {}", m.list(&QUEUE, &[MCS, DSM, LOCKQ_MCS], n)),
                    Verdict::of(ratio > 1.0),
                )
            },
        }],
    },
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
        within: Within::Nothing,
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
        names: &["ppn"],
        title: "Processes per node: a core for each thread of a transport sweep, divided among more and more processes",
        note: "The slides have SNAP on several nodes of 56 cores; here it is a Fortran program with SNAP's pattern, and one \
               machine is the only node. Each process has the same part of the domain, so the domain grows with the \
               processes; the time is for a cell of it. One process has no messages here, and is left out.",
        systems: &[
            paper(GLOBAL, "topc2019-mcs"),
            paper(PER_VNI, "ics2019-per-vni"),
            paper(OFFLOAD, "ics2019-offload"),
            paper(HMCS_USC, "ics2019-hmcs-usc"),
            paper(CSYNC, "ics2019-csync"),
            paper(LOCKQ_MCS, "ics2019-lockq-mcs"),
            paper(LOCKQ_MTX, "ics2019-lockq-mtx"),
        ],
        cases: sweeps,
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| n,
        views: &[SWEEP],
        claims: &[
            Claim {
                figure: "SNAP",
                text: "all methods perform best with the same number of processes, neither the fewest nor the most (6 on 56 \
                       cores)",
                needs: Threads(16),
                check: |m, _| {
                    let best: Option<Vec<u64>> = ALL.iter().map(|label| best_processes(m, label)).collect();
                    let (best, places) = (best?, m.places(&SWEEP));
                    let extreme = |place: &&u64| {
                        Some(*place) == places.first() || Some(*place) == places.last() || **place != best[0]
                    };
                    let shown: Vec<String> =
                        ALL.iter().zip(&best).map(|(label, place)| format!("{label} {place}")).collect();
                    finding(
                        format!("of {places:?} processes the best are: {}", shown.join(", ")),
                        Verdict::of_cases(best.iter().filter(extreme).count(), ALL.len()),
                    )
                },
            },
            Claim {
                figure: "SNAP",
                text: "offloading is up to 2 times slower, as its threads take cores from the computation",
                needs: Threads(4),
                check: |m, _| {
                    let others = [GLOBAL, PER_VNI, HMCS_USC, CSYNC, LOCKQ_MCS, LOCKQ_MTX];
                    let mut worst: Option<(f64, u64)> = None;
                    for place in m.places(&SWEEP) {
                        let least = m.extremes(&SWEEP, &others, place as u32)?.0;
                        let ratio = m.at(OFFLOAD, &SWEEP, place as u32)? / least.1;
                        if worst.is_none_or(|(before, _)| ratio > before) {
                            worst = Some((ratio, place));
                        }
                    }
                    let (ratio, place) = worst?;
                    finding(
                        format!("{place} processes: {ratio:.2} times the fastest other"),
                        Verdict::of_factor(ratio, 2.0),
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
        within: Within::Nothing,
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

#[cfg(test)]
mod tests {
    use super::{Points, sweeps};

    #[test]
    fn processes_and_threads_divide_the_cores() {
        let of = |cores| {
            let points = Points { threads: vec![1, 2, 4, 8, 16], cores, ranks: 8 };
            sweeps(&points).iter().map(|case| (case.ranks, case.threads)).collect::<Vec<_>>()
        };
        assert_eq!(of(16), [(2, 8), (4, 4), (8, 2)]);
        assert_eq!(of(2), [(2, 2), (4, 1)]);
    }
}
