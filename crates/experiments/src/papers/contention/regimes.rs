//! Locks under a latency-bound and a throughput-bound program (sections 3.4, 4.2 and 5.2, Figs. 2, 3, 4, 6
//! and 7).

use super::systems::{
    ALL, FAIR_PROGRESS, FLAT, HMCS, HMCS_SYSTEM, LATENCY, MCS, MCS_SYSTEM, MUTEX, MUTEX_SYSTEM, NEAR_MAIN,
    NEAR_PROGRESS, NOTE, P_HMCS_HMCS_SYSTEM, P_HMCS_MCS, P_HMCS_MCS_SYSTEM, P_MCS_HMCS, P_MCS_HMCS_SYSTEM,
    P_MCS_MCS, P_MCS_MCS_SYSTEM, RATE, TICKET, TICKET_SYSTEM, both, less,
};
use crate::papers::experiment::Needs::{Nodes, Threads};
use crate::papers::experiment::{Claim, Experiment, Paper, Within};
use crate::papers::measured::finding;
use crate::papers::system::heddle;
use crate::papers::view::{Along, Quantity, View};
use crate::report::target::number;
use crate::report::verdict::Verdict;

const LOCKS: View = View {
    title: "Fig. 2a: a thread's turn at the lock, with 10 cache lines (ns)",
    bench: "lock",
    op: "lines",
    shows: Quantity::Value,
    along: Along::Threads,
};
const MAIN: Quantity = Quantity::Share("heddle_productive_main", "heddle_acquisitions_main");
const PROGRESS: Quantity = Quantity::Share("heddle_productive_progress", "heddle_acquisitions_progress");
const LATENCY_MAIN: View = LATENCY.showing("Figs. 3, 6a: efficiency of the main path, latency", MAIN);
const LATENCY_PROGRESS: View =
    LATENCY.showing("Figs. 3, 6a: efficiency of the progress path, latency", PROGRESS);
const RATE_MAIN: View = RATE.showing("Figs. 4, 6b: efficiency of the main path, throughput", MAIN);
const RATE_PROGRESS: View =
    RATE.showing("Figs. 4, 6b: efficiency of the progress path, throughput", PROGRESS);

const PVARS: &[&str] = &[
    "heddle_productive_main",
    "heddle_acquisitions_main",
    "heddle_productive_progress",
    "heddle_acquisitions_progress",
];

/// The experiments.
pub(super) static EXPERIMENTS: [Experiment; 1] = [Experiment {
    paper: Paper::Contention,
    names: &["fig7", "fig2", "fig3", "fig4", "fig6"],
    title: "Locks under a latency-bound and a throughput-bound program: times and the efficiency of each path",
    note: NOTE,
    systems: &[
        MUTEX_SYSTEM,
        TICKET_SYSTEM,
        MCS_SYSTEM,
        HMCS_SYSTEM,
        P_MCS_MCS_SYSTEM,
        P_HMCS_MCS_SYSTEM,
        P_MCS_HMCS_SYSTEM,
        P_HMCS_HMCS_SYSTEM,
        heddle("global-mutex"),
        heddle("global-p-mcs-mcs"),
        heddle("p-hmcs-mcs"),
    ],
    cases: both,
    within: Within::Locks(&[
        ("mutex", MUTEX),
        ("strict-ticket", TICKET),
        ("strict-mcs", MCS),
        ("strict-hmcs", HMCS),
        ("pthread", "pthread"),
    ]),
    pvars: PVARS,
    misses: false,
    cores: |n| 2 * n,
    views: &[LOCKS, LATENCY, RATE, LATENCY_MAIN, LATENCY_PROGRESS, RATE_MAIN, RATE_PROGRESS],
    claims: &[
        Claim {
            figure: "Fig. 2",
            text: "the lower the latency of the lock, the higher that of messages: HMCS has the lowest and the highest",
            needs: Nodes(4),
            check: |m, n| {
                let (lock, message) = (m.extremes(&LOCKS, &FLAT, n)?.0, m.extremes(&LATENCY, &FLAT, n)?.1);
                finding(
                    format!(
                        "{n} threads: lock {} {} ns, messages {} {} us",
                        lock.0,
                        number(lock.1),
                        message.0,
                        number(message.1)
                    ),
                    Verdict::of_both(lock.0 == HMCS, message.0 == HMCS),
                )
            },
        },
        Claim {
            figure: "Fig. 2b",
            text: "with all threads the latency is two orders of magnitude above that of one, under each lock",
            needs: Threads(16),
            check: |m, n| {
                let growths: Option<Vec<f64>> =
                    FLAT.iter().map(|lock| m.growth(&LATENCY, lock, 1, n)).collect();
                let least = growths?.into_iter().fold(f64::INFINITY, f64::min);
                finding(format!("{n} threads: at least {least:.1} times"), Verdict::of_factor(least, 100.0))
            },
        },
        Claim {
            figure: "Fig. 3",
            text: "latency: the efficiency of the main path depends neither on the threads nor on the lock",
            needs: Threads(2),
            check: |m, n| {
                let (least, most) = m.extremes(&LATENCY_MAIN, &FLAT, n)?;
                let alone = m.at(MCS, &LATENCY_MAIN, 1)?;
                finding(
                    format!("{n} threads: {:.2} to {:.2}; one thread {alone:.2}", least.1, most.1),
                    Verdict::of(least.1 > 0.8 * alone.max(most.1)),
                )
            },
        },
        Claim {
            figure: "Fig. 3",
            text: "latency: the efficiency of the progress path falls with the threads, and HMCS is the worst",
            needs: Nodes(4),
            check: |m, n| {
                let least = m.extremes(&LATENCY_PROGRESS, &FLAT, n)?.0;
                let falls = m.growth(&LATENCY_PROGRESS, MCS, 1, n)? < 1.0;
                finding(
                    format!("{n} threads: {}", m.list(&LATENCY_PROGRESS, &FLAT, n)),
                    Verdict::of_both(falls, least.0 == HMCS),
                )
            },
        },
        Claim {
            figure: "Fig. 4",
            text: "throughput: HMCS is the most efficient on both paths",
            needs: Nodes(4),
            check: |m, n| {
                let main = m.extremes(&RATE_MAIN, &FLAT, n)?.1;
                let progress = m.extremes(&RATE_PROGRESS, &FLAT, n)?.1;
                finding(
                    format!(
                        "{n} threads: main path {}; progress path {}",
                        m.list(&RATE_MAIN, &FLAT, n),
                        m.list(&RATE_PROGRESS, &FLAT, n)
                    ),
                    Verdict::of_both(main.0 == HMCS, progress.0 == HMCS),
                )
            },
        },
        Claim {
            figure: "Fig. 6a",
            text: "latency: locks with HMCS on the progress path are the least efficient there",
            needs: Nodes(4),
            check: |m, n| less(m, &LATENCY_PROGRESS, &NEAR_PROGRESS, &FAIR_PROGRESS, n),
        },
        Claim {
            figure: "Fig. 6a",
            text: "latency: the priority lock improves upon the flat MCS lock",
            needs: Threads(4),
            check: |m, n| {
                let ratio = m.ratio(&LATENCY_PROGRESS, P_MCS_MCS, MCS, n)?;
                finding(
                    format!("{n} threads: efficiency of the progress path {ratio:.2} of MCS's"),
                    Verdict::of(ratio > 1.0),
                )
            },
        },
        Claim {
            figure: "Fig. 6b",
            text: "throughput: locks with HMCS on the main path are the most efficient there",
            needs: Nodes(4),
            check: |m, n| less(m, &RATE_MAIN, &[MCS, P_MCS_MCS, P_MCS_HMCS], &NEAR_MAIN, n),
        },
        Claim {
            figure: "Fig. 7a",
            text: "locks with HMCS on the main path have about twice the message rate of P-MCS-MCS",
            needs: Nodes(4),
            check: |m, n| {
                let ratio = m.ratio(&RATE, P_HMCS_MCS, P_MCS_MCS, n)?;
                finding(format!("{n} threads: {ratio:.2} of P-MCS-MCS's"), Verdict::of_factor(ratio, 2.0))
            },
        },
        Claim {
            figure: "Fig. 7b",
            text: "locks with MCS on the progress path have the lowest latency",
            needs: Nodes(4),
            check: |m, n| less(m, &LATENCY, &FAIR_PROGRESS, &NEAR_PROGRESS, n),
        },
        Claim {
            figure: "Fig. 7",
            text: "P-HMCS-MCS is the best in both regimes",
            needs: Nodes(4),
            check: |m, n| {
                let (fastest, quickest) = (m.extremes(&RATE, &ALL, n)?.1, m.extremes(&LATENCY, &ALL, n)?.0);
                let rate = m.at(P_HMCS_MCS, &RATE, n)? / fastest.1;
                let latency = m.at(P_HMCS_MCS, &LATENCY, n)? / quickest.1;
                finding(
                    format!(
                        "{n} threads: {rate:.2} of the highest rate ({}), {latency:.2} of the lowest latency ({})",
                        fastest.0, quickest.0
                    ),
                    Verdict::of_both(rate >= 0.9, latency <= 1.1),
                )
            },
        },
    ],
}];
