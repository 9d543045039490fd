//! The targets of one-sided communication.

use super::figures::{Figures, MULTIPLE, SINGLE};
use super::record::Key;
use crate::report::target::{Bound, Target};

/// Checks them against a run.
pub(crate) fn check(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for op in ["put", "get"] {
        for threads in [1, 2, 4, 16] {
            let key = Key { op: op.to_owned(), ..Key::new("put", MULTIPLE, 8).threads(threads, "shared") };
            let what = format!("{op} 8 B, {threads} threads of one process, against peers");
            targets.push(figures.against_peer(&what, &key, &key, Bound::AtLeast, 1.0));
        }
    }
    for ranks in [2, 4] {
        let key = Key { op: "add".to_owned(), ..Key::new("fetchop", SINGLE, 8).ranks(ranks) };
        let what = format!("fetch-and-op with flush, {ranks} processes, against peers");
        targets.push(figures.against_peer(&what, &key, &key, Bound::AtLeast, 1.5));
    }
    for op in ["exclusive", "shared"] {
        let key = |ranks| Key { op: op.to_owned(), ..Key::new("winlock", SINGLE, 8).ranks(ranks) };
        for (ranks, factor) in [(2, 1.0), (4, 3.0), (8, 3.0)] {
            let what = format!("{op} window lock, {ranks} processes, against peers");
            targets.push(figures.against_peer(&what, &key(ranks), &key(ranks), Bound::AtLeast, factor));
        }
        for ranks in [8, 16] {
            let what = format!("{op} window lock, {ranks} processes against 2");
            targets.push(figures.against_own(&what, &key(ranks), &key(2), Bound::AtLeast, 0.5));
        }
    }
}
