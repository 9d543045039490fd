//! The systems of the paper, the two benchmarks of its section 3.4, and their figures.

use crate::bench::case::{Case, Comms};
use crate::bench::subject::Subject;
use crate::papers::experiment::Points;
use crate::papers::measured::{Finding, Measured, finding};
use crate::papers::system::{System, paper};
use crate::papers::view::{Along, Quantity, View};
use crate::report::verdict::Verdict;

pub(super) const MUTEX: &str = "Mutex";
pub(super) const TICKET: &str = "Ticket";
pub(super) const MCS: &str = "MCS";
pub(super) const HMCS: &str = "HMCS";
pub(super) const P_MCS_MCS: &str = "P-MCS-MCS";
pub(super) const P_HMCS_MCS: &str = "P-HMCS-MCS";
pub(super) const P_MCS_HMCS: &str = "P-MCS-HMCS";
pub(super) const P_HMCS_HMCS: &str = "P-HMCS-HMCS";
pub(super) const FLAT: [&str; 4] = [MUTEX, TICKET, MCS, HMCS];
pub(super) const ALL: [&str; 8] = [MUTEX, TICKET, MCS, HMCS, P_MCS_MCS, P_HMCS_MCS, P_MCS_HMCS, P_HMCS_HMCS];
/// Locks whose waiting threads pass them on in the order in which they came.
pub(super) const FAIR_PROGRESS: [&str; 3] = [MCS, P_MCS_MCS, P_HMCS_MCS];
/// Locks whose waiting threads pass them on to threads near them.
pub(super) const NEAR_PROGRESS: [&str; 3] = [HMCS, P_MCS_HMCS, P_HMCS_HMCS];
/// Locks whose issuing threads pass them on to threads near them.
pub(super) const NEAR_MAIN: [&str; 3] = [HMCS, P_HMCS_MCS, P_HMCS_HMCS];

pub(super) const MUTEX_SYSTEM: System = paper(MUTEX, "topc2019-mutex");
pub(super) const TICKET_SYSTEM: System = paper(TICKET, "topc2019-ticket");
pub(super) const MCS_SYSTEM: System = paper(MCS, "topc2019-mcs");
pub(super) const HMCS_SYSTEM: System = paper(HMCS, "topc2019-hmcs");
pub(super) const P_MCS_MCS_SYSTEM: System = paper(P_MCS_MCS, "topc2019-p-mcs-mcs");
pub(super) const P_HMCS_MCS_SYSTEM: System = paper(P_HMCS_MCS, "topc2019-p-hmcs-mcs");
pub(super) const P_MCS_HMCS_SYSTEM: System =
    paper(P_MCS_HMCS, "topc2019-p-mcs-mcs+ARBITRATION=p-strict-mcs-strict-hmcs");
pub(super) const P_HMCS_HMCS_SYSTEM: System =
    paper(P_HMCS_HMCS, "topc2019-p-hmcs-mcs+ARBITRATION=p-strict-hmcs-strict-hmcs");

/// The paper's size of messages.
pub(in crate::papers) const BYTES: [u64; 1] = [64];

pub(in crate::papers) const LATENCY: View = View {
    title: "Figs. 2b, 7b: latency one way (us)",
    bench: "clients",
    op: "isend",
    shows: Quantity::OneWayUs,
    along: Along::Threads,
};
pub(in crate::papers) const RATE: View = View {
    title: "Fig. 7a: messages a second",
    bench: "rate",
    op: "isend",
    shows: Quantity::Value,
    along: Along::Threads,
};

pub(super) const NOTE: &str = "The paper has nodes of 44 cores and 88 hardware threads in four NUMA nodes, and a network between the two \
     processes; here both are on one machine. The efficiency of a path is the part of its entries that created, \
     completed or freed a request.";

pub(in crate::papers) fn clients(n: u32, sizes: &[u64]) -> Case {
    Case::new(Subject::Clients, 2, sizes).threads(n, Comms::Shared)
}

pub(in crate::papers) fn rate(n: u32, sizes: &[u64]) -> Case {
    Case::new(Subject::Rate, 2, sizes).threads(n, Comms::Shared)
}

pub(super) fn both(points: &Points) -> Vec<Case> {
    points.threads.iter().flat_map(|&n| [clients(n, &BYTES), rate(n, &BYTES)]).collect()
}

/// Each of `these` is less than each of `those`.
pub(super) fn less(m: &Measured<'_>, view: &View, these: &[&str], those: &[&str], n: u32) -> Option<Finding> {
    let mut otherwise = 0;
    for one in these {
        for other in those {
            otherwise += usize::from(m.at(one, view, n)? >= m.at(other, view, n)?);
        }
    }
    finding(
        format!("{n} threads: {}; {}", m.list(view, these, n), m.list(view, those, n)),
        Verdict::of_cases(otherwise, these.len() * those.len()),
    )
}
