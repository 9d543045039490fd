//! The targets of collective operations.

use super::cases::SIZES_OF_COLLECTIVES;
use super::figures::{Figures, MULTIPLE, SINGLE};
use super::record::Key;
use crate::report::target::{Bound, Target};

/// The key of an operation of processes with one thread each.
fn key(op: &str, ranks: u32, size: u64) -> Key {
    let key = Key::new("collective", SINGLE, size).ranks(ranks);
    Key { op: op.to_owned(), comms: "per-thread".to_owned(), ..key }
}

/// Checks them against a run.
pub(crate) fn check(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for op in ["barrier", "bcast", "reduce", "allreduce"] {
        let key = key(op, 2, 8);
        let what = format!("{op} 8 B, 2 processes, against peers");
        targets.push(figures.against_peer(&what, &key, &key, Bound::AtMost, 1.0 / 1.3));
    }
    for op in ["bcast", "reduce", "allreduce", "alltoall"] {
        for size in SIZES_OF_COLLECTIVES {
            let small = size == SIZES_OF_COLLECTIVES[0];
            for ranks in [2, 4, 8] {
                if small && ranks == 2 {
                    continue;
                }
                let (key, factor) = (key(op, ranks, size), if ranks == 2 { 1.2 } else { 1.0 });
                let what = format!("{op} {size} B, {ranks} processes, against peers");
                targets.push(figures.against_peer(&what, &key, &key, Bound::AtMost, factor));
            }
        }
    }
    targets.push(figures.against_own(
        "persistent allreduce 8 B against blocking",
        &key("persistent_allreduce", 2, 8),
        &key("allreduce", 2, 8),
        Bound::AtMost,
        1.0,
    ));
    for (op, what) in [
        ("iallreduce", "iallreduce 1 MiB beside a computation, --models offload"),
        ("iallreduce-device", "iallreduce 1 MiB beside a computation on a device, --models offload"),
    ] {
        let key = Key { bench: "overlap".to_owned(), ..key(op, 2, SIZES_OF_COLLECTIVES[2]) };
        let hidden = figures.value_under("offload", &key);
        targets.push(figures.absolute(what, hidden, Bound::AtLeast, 0.7, "of the operation hidden"));
    }
    // The figure is the mean time over the threads: that of 16 may be 32 times that of one for half the rate.
    let threads = |threads| Key {
        op: "allreduce".to_owned(),
        ..Key::new("collective", MULTIPLE, 8).threads(threads, "per-thread")
    };
    let (one, many) = (threads(1), threads(16));
    targets.push(figures.against_own(
        "allreduce 8 B, 16 threads against one",
        &many,
        &one,
        Bound::AtMost,
        32.0,
    ));
    targets.push(figures.against_peer(
        "allreduce 8 B, 16 threads, against peers",
        &many,
        &many,
        Bound::AtMost,
        0.1,
    ));
}
