//! Wake-up and tests (sections 6.1 and 6.2).

use super::systems::{LATENCY, NOTE, RATE, both};
use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::papers::experiment::Needs::Threads;
use crate::papers::experiment::{Claim, Experiment, Paper, Points, Within};
use crate::papers::measured::finding;
use crate::papers::system::{heddle, paper};
use crate::papers::view::{Along, Quantity, View};
use crate::report::verdict::Verdict;

const SEARCH: View = View {
    title: "Section 6.2: breadth-first search, edges a second",
    bench: "graph500",
    op: "bfs",
    shows: Quantity::Value,
    along: Along::Threads,
};

const BLIND: &str = "P-HMCS-MCS";
const COUNTERS: &str = "P-HMCS-MCS with counters";
const TEST_WAITS: &str = "tests wait for the lock";
const TEST_GIVES_UP: &str = "tests give up after 10 us";
const TEST_TRIES: &str = "tests only try";
const GLOBAL_WAITS: &str = "one global lock: tests wait";
const GLOBAL_GIVES_UP: &str = "one global lock: tests give up after 10 us";

/// The experiments.
pub(super) static EXPERIMENTS: [Experiment; 2] = [
    Experiment {
        paper: Paper::Contention,
        names: &["wakeup"],
        title: "Section 6.1: waking the thread whose operation is complete, instead of all in turn",
        note: NOTE,
        systems: &[
            paper(BLIND, "topc2019-p-hmcs-mcs"),
            paper(COUNTERS, "topc2019-p-hmcs-mcs+WAKEUP=counter"),
            heddle("hmcs-usc"),
        ],
        cases: both,
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| 2 * n,
        views: &[LATENCY, RATE],
        claims: &[
            Claim {
                figure: "Section 6.1",
                text: "the best lock loses more than 8 times in latency from few to all threads, less than 2 times in \
                       throughput",
                needs: Threads(8),
                check: |m, n| {
                    let latency = m.growth(&LATENCY, BLIND, 2, n)?;
                    let rate = 1.0 / m.growth(&RATE, BLIND, 2, n)?;
                    finding(
                        format!(
                            "from 2 to {n} threads: latency {latency:.1} times, rate {rate:.2} times less"
                        ),
                        Verdict::of_both(latency >= 4.0, rate <= 2.0),
                    )
                },
            },
            Claim {
                figure: "Section 6.1",
                text: "counters reduce the loss in latency significantly",
                needs: Threads(4),
                check: |m, n| {
                    let (blind, counters) =
                        (m.growth(&LATENCY, BLIND, 2, n)?, m.growth(&LATENCY, COUNTERS, 2, n)?);
                    finding(
                        format!("from 2 to {n} threads: {counters:.2} times instead of {blind:.2}"),
                        Verdict::of(counters < 0.8 * blind),
                    )
                },
            },
        ],
    },
    Experiment {
        paper: Paper::Contention,
        names: &["tests"],
        title: "Section 6.2: MPI_Test gives up on a lock",
        note: "A search by n threads of each of two processes that complete everything by MPI_Test, under one MCS lock that can \
               time out: of one VNI, and around every call as in the paper.",
        systems: &[
            paper(
                TEST_WAITS,
                "ics2019-per-vni+VNIS=1+ARBITRATION=strict-abortable-mcs+TEST_PATIENCE=4294967295",
            ),
            paper(TEST_GIVES_UP, "ics2019-per-vni+VNIS=1+ARBITRATION=strict-abortable-mcs+TEST_PATIENCE=10"),
            paper(TEST_TRIES, "ics2019-per-vni+VNIS=1+ARBITRATION=strict-abortable-mcs"),
            paper(GLOBAL_WAITS, "topc2019-mcs+ARBITRATION=strict-abortable-mcs"),
            paper(GLOBAL_GIVES_UP, "topc2019-mcs+ARBITRATION=strict-abortable-mcs+TEST_PATIENCE=10"),
            heddle("per-vni-mcs"),
        ],
        cases: searches,
        within: Within::Nothing,
        pvars: &[],
        misses: false,
        cores: |n| 2 * n,
        views: &[SEARCH],
        claims: &[
            Claim {
                figure: "Section 6.2",
                text: "a search scales significantly better if tests give up",
                needs: Threads(4),
                check: |m, n| {
                    let (up, tries) = (
                        m.ratio(&SEARCH, TEST_GIVES_UP, TEST_WAITS, n)?,
                        m.ratio(&SEARCH, TEST_TRIES, TEST_WAITS, n)?,
                    );
                    finding(
                        format!("{n} threads: {up:.2} times the rate, {tries:.2} if tests only try"),
                        Verdict::of(up.max(tries) > 1.1),
                    )
                },
            },
            Claim {
                figure: "Section 6.2, one global lock",
                text: "a search scales significantly better if tests give up",
                needs: Threads(4),
                check: |m, n| {
                    let up = m.ratio(&SEARCH, GLOBAL_GIVES_UP, GLOBAL_WAITS, n)?;
                    finding(format!("{n} threads: {up:.2} times the rate"), Verdict::of(up > 1.1))
                },
            },
        ],
    },
];

/// Searches by two processes.
pub(in crate::papers) fn searches(points: &Points) -> Vec<Case> {
    let of = |&n: &u32| Case::new(Subject::Graph500, 2, &[0]).threads(n, Comms::Shared);
    points.threads.iter().map(of).collect()
}
