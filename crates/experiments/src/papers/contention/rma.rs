//! One-sided operations under the locks (section 5.2, which tells its results in words).

use super::systems::{
    HMCS, HMCS_SYSTEM, MCS, MCS_SYSTEM, MUTEX, MUTEX_SYSTEM, P_HMCS_MCS, P_HMCS_MCS_SYSTEM, P_MCS_MCS,
    P_MCS_MCS_SYSTEM, RATE, less,
};
use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::papers::experiment::Needs::{Nodes, Threads};
use crate::papers::experiment::{Claim, Experiment, Paper, Points, Within};
use crate::papers::measured::{Finding, Measured, finding};
use crate::papers::system::heddle;
use crate::papers::view::View;
use crate::report::verdict::Verdict;

const BYTES: [u64; 1] = [8];
const LOCKS: [&str; 5] = [MUTEX, MCS, HMCS, P_MCS_MCS, P_HMCS_MCS];

const ONE_FLUSHES: View = View {
    title: "Section 5.2: puts a second, one thread of n flushes",
    bench: "put",
    op: "one-flush",
    ..RATE
};
const ALL_FLUSH: View =
    View { title: "Section 5.2: puts a second, all n threads flush", op: "put", ..ONE_FLUSHES };

fn puts(points: &Points) -> Vec<Case> {
    let of = |&n: &u32| {
        let case = Case::new(Subject::Put, 2, &BYTES).threads(n, Comms::Shared);
        [case.clone().op("one-flush"), case]
    };
    points.threads.iter().flat_map(of).collect()
}

/// Under each lock, the rate of n threads over that of one: less where all flush than where one does.
fn collapse(m: &Measured<'_>, n: u32) -> Option<Finding> {
    let mut otherwise = 0;
    let mut shown = Vec::new();
    for lock in LOCKS {
        let (all, one) = (m.growth(&ALL_FLUSH, lock, 1, n)?, m.growth(&ONE_FLUSHES, lock, 1, n)?);
        otherwise += usize::from(all >= one);
        shown.push(format!("{lock} {all:.2} and {one:.2}"));
    }
    finding(
        format!("rate of {n} threads over that of one, all flush and one flushes: {}", shown.join(", ")),
        Verdict::of_cases(otherwise, LOCKS.len()),
    )
}

/// The experiment.
pub(super) static EXPERIMENTS: [Experiment; 1] = [Experiment {
    paper: Paper::Contention,
    names: &["rma"],
    title: "Section 5.2: puts by n threads, after which one thread synchronizes, or all",
    note: "The paper leaves the figures out and tells what they show. Its puts cross a network; here they are copies within \
           one machine, 64 of 8 bytes between two calls of MPI_Win_flush, so little is left to wait for in a flush.",
    systems: &[
        MUTEX_SYSTEM,
        MCS_SYSTEM,
        HMCS_SYSTEM,
        P_MCS_MCS_SYSTEM,
        P_HMCS_MCS_SYSTEM,
        heddle("global-mutex"),
        heddle("p-hmcs-mcs"),
    ],
    cases: puts,
    within: Within::Nothing,
    pvars: &[],
    misses: false,
    cores: |n| n + 1,
    views: &[ONE_FLUSHES, ALL_FLUSH],
    claims: &[
        Claim {
            figure: "Section 5.2",
            text: "one thread synchronizes: as in two-sided throughput, locks with HMCS on the main path perform best",
            needs: Nodes(4),
            check: |m, n| less(m, &ONE_FLUSHES, &[MUTEX, MCS, P_MCS_MCS], &[HMCS, P_HMCS_MCS], n),
        },
        Claim {
            figure: "Section 5.2",
            text: "all threads synchronize: the throughput collapses worse than with one thread that does, since a flush also \
                   waits for what others issue meanwhile",
            needs: Threads(4),
            check: collapse,
        },
    ],
}];
