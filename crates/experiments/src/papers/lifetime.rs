//! The experiment of Goodell et al. (CLUSTER 2010): threads of a process, each exchanging messages with a
//! process of its own, under different bookkeeping of the objects that messages use.

use super::experiment::Needs::Threads;
use super::experiment::{Claim, Experiment, Paper, Within};
use super::measured::finding;
use super::system::{heddle, paper};
use super::view::{Along, Quantity, View};
use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::report::verdict::Verdict;

const NAIVE: &str = "naive";
const SUPPRESS: &str = "suppression";
const COLLECT: &str = "garbage collection";
const ALL: [&str; 3] = [NAIVE, SUPPRESS, COLLECT];

const PREDEFINED: View = View {
    title: "Fig. 4: messages a second, predefined objects",
    bench: "neighbor",
    op: "predefined",
    shows: Quantity::Value,
    along: Along::Threads,
};
const DERIVED: View =
    View { title: "Fig. 4: messages a second, derived objects", op: "derived", ..PREDEFINED };
const GAIN: View = PREDEFINED.showing("Fig. 5: rate over naive, predefined objects", Quantity::Over(NAIVE));
const GAIN_DERIVED: View = DERIVED.showing("Fig. 5: rate over naive, derived objects", Quantity::Over(NAIVE));
const MISSES: View = PREDEFINED
    .showing("Fig. 6: cache misses per message, predefined objects", Quantity::Further("cache_misses", 1.0));

/// The experiments.
pub(super) static EXPERIMENTS: [Experiment; 1] = [Experiment {
    paper: Paper::Lifetime,
    names: &["fig4", "fig5", "fig6"],
    title: "Reference counts and garbage collection: messages of n threads with n neighbors",
    note: "The paper has four cores of a Blue Gene/P node and a node for each neighbor; here the neighbors are processes of the \
           same machine. Cache misses are the processor's count; many virtual machines have none, and a simulated \
           cache (cachegrind) has no misses from other cores' writes, which the paper is about.",
    systems: &[
        paper(NAIVE, "ijhpca2010-per-object-tlp-atom"),
        paper(SUPPRESS, "cluster2010-suppress"),
        paper(COLLECT, "cluster2010-collect"),
        heddle("per-object"),
    ],
    cases: |points| {
        let of = |&n: &u32| {
            let case = Case::new(Subject::Neighbor, n + 1, &[0]).threads(n, Comms::Shared);
            [case.clone().op("predefined"), case.op("derived")]
        };
        points.threads.iter().flat_map(of).collect()
    },
    within: Within::Nothing,
    pvars: &[],
    misses: true,
    cores: |n| 2 * n,
    views: &[PREDEFINED, DERIVED, GAIN, GAIN_DERIVED, MISSES],
    claims: &[
        Claim {
            figure: "Fig. 4",
            text: "garbage collection clearly outperforms the other strategies",
            needs: Threads(2),
            check: |m, n| {
                let others = [NAIVE, SUPPRESS].map(|other| m.ratio(&PREDEFINED, COLLECT, other, n));
                let (naive, suppress) = (others[0]?, others[1]?);
                let otherwise = [naive, suppress].iter().filter(|&&ratio| ratio < 1.02).count();
                finding(
                    format!("{n} threads: {naive:.2} of naive, {suppress:.2} of suppression"),
                    Verdict::of_cases(otherwise, 2),
                )
            },
        },
        Claim {
            figure: "Fig. 4",
            text: "with derived objects all are at least slightly slower",
            needs: Threads(2),
            check: |m, n| {
                let mut shown = Vec::new();
                let mut otherwise = 0;
                for label in ALL {
                    let ratio = m.at(label, &DERIVED, n)? / m.at(label, &PREDEFINED, n)?;
                    otherwise += usize::from(ratio > 1.02);
                    shown.push(format!("{label} {ratio:.2}"));
                }
                finding(
                    format!("{n} threads, derived over predefined: {}", shown.join(", ")),
                    Verdict::of_cases(otherwise, ALL.len()),
                )
            },
        },
        Claim {
            figure: "Fig. 4",
            text: "with collection, derived objects are nearly indistinguishable from predefined ones",
            needs: Threads(2),
            check: |m, n| {
                let ratio = m.at(COLLECT, &DERIVED, n)? / m.at(COLLECT, &PREDEFINED, n)?;
                finding(format!("{n} threads: {ratio:.2}"), Verdict::of((0.95..=1.05).contains(&ratio)))
            },
        },
        Claim {
            figure: "Fig. 5",
            text: "the gain of collection over naive counting grows from 10 % at one thread to 31 % at four",
            needs: Threads(4),
            check: |m, n| {
                let one = m.at(COLLECT, &GAIN, 1)? - 1.0;
                let many = m.at(COLLECT, &GAIN, n)? - 1.0;
                let verdict = match (many > one, many >= 0.155) {
                    (true, true) => Verdict::Agrees,
                    (true, false) => Verdict::InPart,
                    _ => Verdict::Differs,
                };
                finding(format!("{:.0} % at one thread, {:.0} % at {n}", one * 100.0, many * 100.0), verdict)
            },
        },
        Claim {
            figure: "Fig. 6",
            text: "with four threads naive counting has about 1.5 times the cache misses of collection",
            needs: Threads(4),
            check: |m, n| {
                let ratio = m.ratio(&MISSES, NAIVE, COLLECT, n)?;
                finding(format!("{n} threads: {ratio:.2} times"), Verdict::of_factor(ratio, 1.5))
            },
        },
    ],
}];
