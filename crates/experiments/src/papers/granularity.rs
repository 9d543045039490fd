//! The experiments of Balaji et al. (IJHPCA 2010): n threads of a process, each sending to a process of its
//! own, under critical sections of different sizes.

use super::experiment::Needs::Threads;
use super::experiment::{Claim, Experiment, Paper, Points, Within};
use super::measured::{Finding, Measured, finding};
use super::system::{PROCESSES, System, heddle, paper};
use super::view::{Along, Quantity, View};
use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::report::target::number;
use crate::report::verdict::Verdict;

const GLOBAL: &str = "Global";
const BRIEF: &str = "Brief Global";
const OBJECT: &str = "Per Object";
const TLP: &str = "Per-Object tlp";
const TLP_ATOM: &str = "Per-Object tlp atom";
const OF_PROCESSES: &str = PROCESSES.label;

const GLOBAL_SYSTEM: System = paper(GLOBAL, "ijhpca2010-global");
const BRIEF_SYSTEM: System = paper(BRIEF, "ijhpca2010-brief-global");
const OBJECT_SYSTEM: System = paper(OBJECT, "ijhpca2010-per-object");
const TLP_SYSTEM: System = paper(TLP, "ijhpca2010-per-object-tlp");
const TLP_ATOM_SYSTEM: System = paper(TLP_ATOM, "ijhpca2010-per-object-tlp-atom");

const ACQUISITIONS: &str = "heddle_acquisitions_main";
const WAITED: Quantity = Quantity::Further("heddle_time_waited", 1e9);
const PVARS: &[&str] = &[ACQUISITIONS, "heddle_time_waited"];

const NOTE: &str = "The paper has messages of no byte over TCP on two sockets of four cores; here they go through shared memory. \
     Waiting time is that of the time variables of MPI_T, for a message.";

const fn rate(bench: &'static str, op: &'static str, title: &'static str) -> View {
    View { title, bench, op, shows: Quantity::Value, along: Along::Threads }
}

const NULL_RATE: View = rate("procnull", "send", "Fig. 3: sends a second to MPI_PROC_NULL");
const NULL_WAIT: View = NULL_RATE.showing("Fig. 4: waiting for a mutex (ns a send)", WAITED);
const BLOCKING_RATE: View = rate("senders", "send", "Fig. 5: blocking sends a second");
const BLOCKING_WAIT: View = BLOCKING_RATE.showing("Fig. 6: waiting for a mutex (ns a send)", WAITED);
pub(super) const NONBLOCKING_RATE: View = rate("senders", "isend", "Fig. 7: nonblocking sends a second");
const NONBLOCKING_WAIT: View = NONBLOCKING_RATE.showing("Fig. 8: waiting for a mutex (ns a send)", WAITED);
const COUNTS: Quantity = Quantity::Further(ACQUISITIONS, 1.0);
const NULL_COUNT: View = NULL_RATE.showing("Table 1: acquisitions a send to MPI_PROC_NULL", COUNTS);
const BLOCKING_COUNT: View = BLOCKING_RATE.showing("Table 1: acquisitions a blocking send", COUNTS);
const NONBLOCKING_COUNT: View = NONBLOCKING_RATE.showing("Table 1: acquisitions a nonblocking send", COUNTS);

fn to_nobody(points: &Points) -> Vec<Case> {
    let of = |&n: &u32| {
        let case = Case::new(Subject::Procnull, 1, &[0]).op("send");
        [case.clone().threads(n, Comms::Shared), Case { ranks: n, ..case }]
    };
    points.threads.iter().flat_map(of).collect()
}

fn to_receivers(points: &Points, op: &'static str) -> Vec<Case> {
    let of = |&n: &u32| {
        let processes = Case::new(Subject::Senders, 2 * n, &[0]).op(op);
        [to_receivers_of(n, op), processes]
    };
    points.threads.iter().flat_map(of).collect()
}

/// The threads of one process, each of which sends to a process of its own.
pub(super) fn to_receivers_of(threads: u32, op: &'static str) -> Case {
    Case::new(Subject::Senders, threads + 1, &[0]).op(op).threads(threads, Comms::Shared)
}

/// The experiments, in the paper's order.
pub(super) static EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        paper: Paper::Granularity,
        names: &["table1"],
        title: "How often is a mutex acquired for a send?",
        note: "Counted by MPI_T for two threads over whole runs, with a blocking receive and a send of the benchmark's own for \
               every 128 messages, and without the polls of waiting threads. The test program papers_table1 counts \
               single calls.",
        systems: &[GLOBAL_SYSTEM, BRIEF_SYSTEM, OBJECT_SYSTEM, TLP_SYSTEM, TLP_ATOM_SYSTEM],
        cases: |_| {
            let two = Points { threads: vec![2], cores: 2, ranks: u32::MAX };
            let threads = |case: &Case| case.multiple;
            let all = [to_nobody(&two), to_receivers(&two, "send"), to_receivers(&two, "isend")];
            all.into_iter().flatten().filter(threads).collect()
        },
        within: Within::Nothing,
        pvars: PVARS,
        misses: false,
        cores: |n| n,
        views: &[NULL_COUNT, BLOCKING_COUNT, NONBLOCKING_COUNT],
        claims: &[
            Claim {
                figure: "Table 1",
                text: "to MPI_PROC_NULL: 1 under Global, 0 under the others",
                needs: Threads(1),
                check: |m, _| counted(m, &NULL_COUNT, [1.0, 0.0, 0.0, 0.0, 0.0]),
            },
            Claim {
                figure: "Table 1",
                text: "blocking: 1 under each",
                needs: Threads(1),
                check: |m, _| counted(m, &BLOCKING_COUNT, [1.0; 5]),
            },
            Claim {
                figure: "Table 1",
                text: "nonblocking: 1 under Global, then 8, 8, 6 and 2",
                needs: Threads(1),
                check: |m, _| counted(m, &NONBLOCKING_COUNT, [1.0, 8.0, 8.0, 6.0, 2.0]),
            },
        ],
    },
    Experiment {
        paper: Paper::Granularity,
        names: &["fig3", "fig4"],
        title: "Sends to MPI_PROC_NULL: the cost of threads before anything is communicated",
        note: NOTE,
        systems: &[GLOBAL_SYSTEM, BRIEF_SYSTEM, PROCESSES, heddle("global-mutex"), heddle("brief-global")],
        cases: to_nobody,
        within: Within::Nothing,
        pvars: PVARS,
        misses: false,
        cores: |n| n,
        views: &[NULL_RATE, NULL_WAIT],
        claims: &[
            Claim {
                figure: "Fig. 3",
                text: "Brief Global is almost identical to processes",
                needs: Threads(2),
                check: |m, n| as_fast(m, &NULL_RATE, BRIEF, OF_PROCESSES, n, 0.8),
            },
            Claim {
                figure: "Fig. 3",
                text: "under Global the rate declines considerably",
                needs: Threads(2),
                check: |m, n| {
                    let ratio = m.ratio(&NULL_RATE, GLOBAL, OF_PROCESSES, n)?;
                    let growth = m.growth(&NULL_RATE, GLOBAL, 1, n)?;
                    finding(
                        format!("{n} threads: {ratio:.3} of processes, {growth:.2} of one thread"),
                        Verdict::of(ratio < 0.5 && growth < 0.8),
                    )
                },
            },
            Claim {
                figure: "Fig. 4",
                text: "no thread waits under Brief Global; under Global the wait grows with the threads",
                needs: Threads(4),
                check: |m, n| waits(m, &NULL_WAIT, &[GLOBAL], &[BRIEF], n),
            },
        ],
    },
    Experiment {
        paper: Paper::Granularity,
        names: &["fig5", "fig6"],
        title: "Blocking sends of n threads to n processes",
        note: NOTE,
        systems: &[
            GLOBAL_SYSTEM,
            BRIEF_SYSTEM,
            OBJECT_SYSTEM,
            PROCESSES,
            heddle("global-mutex"),
            heddle("brief-global"),
            heddle("per-object"),
        ],
        cases: |points| to_receivers(points, "send"),
        within: Within::Nothing,
        pvars: PVARS,
        misses: false,
        cores: |n| 2 * n,
        views: &[BLOCKING_RATE, BLOCKING_WAIT],
        claims: &[
            Claim {
                figure: "Fig. 5",
                text: "Brief Global is as slow as Global",
                needs: Threads(4),
                check: |m, n| {
                    let ratio = m.ratio(&BLOCKING_RATE, BRIEF, GLOBAL, n)?;
                    finding(
                        format!("{n} threads: {ratio:.2} of Global"),
                        Verdict::of((0.67..=1.5).contains(&ratio)),
                    )
                },
            },
            Claim {
                figure: "Fig. 5",
                text: "Per Object is comparable to processes",
                needs: Threads(4),
                check: |m, n| as_fast(m, &BLOCKING_RATE, OBJECT, OF_PROCESSES, n, 0.7),
            },
            Claim {
                figure: "Fig. 6",
                text: "under Global and Brief Global the wait grows with the threads, under Per Object threads hardly \
                       wait",
                needs: Threads(4),
                check: |m, n| waits(m, &BLOCKING_WAIT, &[GLOBAL, BRIEF], &[OBJECT], n),
            },
        ],
    },
    Experiment {
        paper: Paper::Granularity,
        names: &["fig7", "fig8"],
        title: "Nonblocking sends of n threads to n processes: request pool and reference counts",
        note: NOTE,
        systems: &[
            GLOBAL_SYSTEM,
            BRIEF_SYSTEM,
            OBJECT_SYSTEM,
            TLP_SYSTEM,
            TLP_ATOM_SYSTEM,
            PROCESSES,
            heddle("per-object"),
            heddle("lock-free"),
        ],
        cases: |points| to_receivers(points, "isend"),
        within: Within::Nothing,
        pvars: PVARS,
        misses: false,
        cores: |n| 2 * n,
        views: &[NONBLOCKING_RATE, NONBLOCKING_WAIT],
        claims: &[
            Claim {
                figure: "Fig. 7",
                text: "Per Object does not grow beyond two threads",
                needs: Threads(4),
                check: |m, n| {
                    let growth = m.growth(&NONBLOCKING_RATE, OBJECT, 2, n)?;
                    finding(format!("{n} threads: {growth:.2} of two threads"), Verdict::of(growth < 1.2))
                },
            },
            Claim {
                figure: "Fig. 7",
                text: "thread-local pools improve the rate, but only slightly",
                needs: Threads(4),
                check: |m, n| {
                    let ratio = m.ratio(&NONBLOCKING_RATE, TLP, OBJECT, n)?;
                    let verdict = match ratio {
                        slight if (1.0..=1.4).contains(&slight) => Verdict::Agrees,
                        more if more > 1.4 => Verdict::InPart,
                        _ => Verdict::Differs,
                    };
                    finding(format!("{n} threads: {ratio:.2} of Per Object"), verdict)
                },
            },
            Claim {
                figure: "Fig. 7",
                text: "with atomic counts too the rate improves further, and grows with the threads; processes are \
                       faster still",
                needs: Threads(4),
                check: |m, n| {
                    let ratio = m.ratio(&NONBLOCKING_RATE, TLP_ATOM, TLP, n)?;
                    let growth = m.growth(&NONBLOCKING_RATE, TLP_ATOM, 1, n)?;
                    let processes = m.ratio(&NONBLOCKING_RATE, TLP_ATOM, OF_PROCESSES, n)?;
                    let otherwise = [ratio < 1.05, growth < 1.2, processes > 1.0];
                    finding(
                        format!(
                            "{n} threads: {ratio:.2} of tlp, {growth:.2} of one thread, {processes:.2} of processes"
                        ),
                        Verdict::of_cases(otherwise.iter().filter(|&&it| it).count(), otherwise.len()),
                    )
                },
            },
            Claim {
                figure: "Fig. 8",
                text: "the wait grows faster under Brief Global than under Global",
                needs: Threads(4),
                check: |m, n| {
                    let (brief, global) =
                        (m.at(BRIEF, &NONBLOCKING_WAIT, n)?, m.at(GLOBAL, &NONBLOCKING_WAIT, n)?);
                    finding(
                        format!("{n} threads: {} and {} ns a send", number(brief), number(global)),
                        Verdict::of(brief > global),
                    )
                },
            },
            Claim {
                figure: "Fig. 8",
                text: "the wait is much lower under Per Object, lower with thread-local pools, and lower with atomic \
                       counts",
                needs: Threads(4),
                check: |m, n| {
                    let steps = [BRIEF, OBJECT, TLP, TLP_ATOM];
                    let waits: Option<Vec<f64>> =
                        steps.iter().map(|step| m.at(step, &NONBLOCKING_WAIT, n)).collect();
                    let otherwise = waits?.windows(2).filter(|pair| pair[1] > pair[0]).count();
                    finding(
                        format!("{n} threads, ns a send: {}", m.list(&NONBLOCKING_WAIT, &steps, n)),
                        Verdict::of_cases(otherwise, 3),
                    )
                },
            },
        ],
    },
];

/// Compares the acquisitions of two threads with the paper's, step by step; the messages of the benchmark's
/// own add up to a tenth of one.
fn counted(m: &Measured<'_>, view: &View, paper: [f64; 5]) -> Option<Finding> {
    let steps = [GLOBAL, BRIEF, OBJECT, TLP, TLP_ATOM];
    let counts: Option<Vec<f64>> = steps.iter().map(|step| m.at(step, view, 2)).collect();
    let counts = counts?;
    let same = counts.iter().zip(paper).all(|(count, paper)| (count - paper).abs() < 0.2);
    let falls =
        |list: &[f64]| list.windows(2).skip(1).map(|pair| pair[1] < pair[0] - 0.2).collect::<Vec<_>>();
    let verdict = match same {
        true => Verdict::Agrees,
        false if falls(&counts) == falls(&paper) => Verdict::InPart,
        false => Verdict::Differs,
    };
    let shown: Vec<String> = counts.iter().map(|count| format!("{count:.2}")).collect();
    finding(shown.join(", "), verdict)
}

fn as_fast(m: &Measured<'_>, view: &View, one: &str, other: &str, n: u32, share: f64) -> Option<Finding> {
    let ratio = m.ratio(view, one, other, n)?;
    let verdict = match ratio {
        near if near >= share => Verdict::Agrees,
        half if half >= share / 2.0 => Verdict::InPart,
        _ => Verdict::Differs,
    };
    finding(format!("{n} threads: {ratio:.2} of {other}"), verdict)
}

/// Under `waiting` the waiting time grows from two threads to `n`, and under `others` it is less than a
/// quarter.
fn waits(m: &Measured<'_>, view: &View, waiting: &[&str], others: &[&str], n: u32) -> Option<Finding> {
    let mut otherwise = 0;
    let mut least = f64::INFINITY;
    for label in waiting {
        let now = m.at(label, view, n)?;
        otherwise += usize::from(now <= m.at(label, view, 2)?);
        least = least.min(now);
    }
    for label in others {
        otherwise += usize::from(m.at(label, view, n)? > least / 4.0);
    }
    let all: Vec<&str> = waiting.iter().chain(others).copied().collect();
    finding(
        format!("ns a send, {n} threads: {}; 2 threads: {}", m.list(view, &all, n), m.list(view, waiting, 2)),
        Verdict::of_cases(otherwise, all.len()),
    )
}
