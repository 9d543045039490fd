//! The figures that Heddle has to reach, each checked against this run.

use super::figures::{Figures, MULTIPLE, SINGLE};
use super::record::{Key, Row};
use super::{beside_targets, collective_targets, thread_targets, window_targets};
use crate::report::target::{Bound, Target};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn size_name(size: u64) -> String {
    match size {
        s if s >= MIB && s % MIB == 0 => format!("{} MiB", s / MIB),
        s if s >= KIB && s % KIB == 0 => format!("{} KiB", s / KIB),
        s => format!("{s} B"),
    }
}

/// Checks every target against a run's rows.
pub(crate) fn check(rows: &[Row]) -> Vec<Target> {
    let figures = Figures::of(rows);
    let mut targets = Vec::new();
    one_thread(&figures, &mut targets);
    level_cost(&figures, &mut targets);
    thread_targets::check(&figures, &mut targets);
    window_targets::check(&figures, &mut targets);
    collective_targets::check(&figures, &mut targets);
    beside_targets::check(&figures, &mut targets);
    footprint(&figures, &mut targets);
    targets
}

fn one_thread(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for size in [0, 8] {
        targets.push(figures.against_peer(
            &format!("latency {}, MULTIPLE, against peers' SINGLE", size_name(size)),
            &Key::new("latency", MULTIPLE, size),
            &Key::new("latency", SINGLE, size),
            Bound::AtMost,
            0.8,
        ));
    }
    targets.push(figures.against_peer(
        "message rate 8 B, MULTIPLE, against peers' SINGLE",
        &Key::new("rate", MULTIPLE, 8),
        &Key::new("rate", SINGLE, 8),
        Bound::AtLeast,
        1.5,
    ));
    for size in [8 * KIB, MIB, 4 * MIB] {
        targets.push(figures.against_peer(
            &format!("bandwidth {}, MULTIPLE, against peers' SINGLE", size_name(size)),
            &Key::new("bandwidth", MULTIPLE, size),
            &Key::new("bandwidth", SINGLE, size),
            Bound::AtLeast,
            1.0,
        ));
    }
}

/// `MPI_THREAD_MULTIPLE` with one thread may cost 15 % over `MPI_THREAD_SINGLE`.
fn level_cost(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    const COST: f64 = 1.15;
    for size in [0, 8] {
        targets.push(figures.against_own(
            &format!("latency {}, MULTIPLE against SINGLE", size_name(size)),
            &Key::new("latency", MULTIPLE, size),
            &Key::new("latency", SINGLE, size),
            Bound::AtMost,
            COST,
        ));
    }
    targets.push(figures.against_own(
        "message rate 8 B, MULTIPLE against SINGLE",
        &Key::new("rate", MULTIPLE, 8),
        &Key::new("rate", SINGLE, 8),
        Bound::AtLeast,
        1.0 / COST,
    ));
}

fn footprint(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    let key = |bench: &str, op: &str| Key { op: op.to_owned(), ranks: 16, ..Key::new(bench, MULTIPLE, 0) };
    let memory = [
        ("pss-idle", "memory of an idle process of 16, its share of shared memory included"),
        ("rss-idle", "the same, shared memory counted fully"),
    ];
    for (op, what) in memory {
        targets.push(figures.absolute(what, figures.value(&key("memory", op)), Bound::AtMost, 32.0, "MiB"));
    }
    let startup = figures.value(&key("startup", "init"));
    targets.push(figures.absolute("start-up of 16 processes", startup, Bound::AtMost, 1.0, "s"));
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::{Key, MULTIPLE, Row, SINGLE, check};
    use crate::bench::figures::best_peer;
    use crate::bench::record::Figure;
    use crate::report::target::CheckResult;

    /// A row in which every slowest thread has a share of 0.4.
    pub(crate) fn row(key: Key, unit: &str, values: &[(&str, f64)]) -> Row {
        let figure = |median| Figure {
            median,
            low: median,
            high: median,
            interval: None,
            rounds: 5,
            disturbed: 0,
            calm: None,
            share_min: Some(0.4),
            more: BTreeMap::new(),
            probe_ns: None,
        };
        let figures: BTreeMap<String, Figure> =
            values.iter().map(|&(name, value)| (name.to_owned(), figure(value))).collect();
        Row { key, unit: unit.to_owned(), figures }
    }

    /// The verdict on the target whose text begins with `what`.
    pub(crate) fn verdict(rows: &[Row], what: &str) -> CheckResult {
        check(rows).iter().find(|target| target.what.starts_with(what)).expect("no such target").verdict
    }

    #[test]
    fn latency_is_compared_with_the_fastest_peer_at_single() {
        let peers = row(Key::new("latency", SINGLE, 8), "us", &[("a", 0.2), ("b", 0.1), ("heddle", 0.01)]);
        let with = |us| [peers.clone(), row(Key::new("latency", MULTIPLE, 8), "us", &[("heddle", us)])];
        assert_eq!(verdict(&with(0.079), "latency 8 B, MULTIPLE, against"), CheckResult::Pass);
        assert_eq!(verdict(&with(0.081), "latency 8 B, MULTIPLE, against"), CheckResult::Fail);
        assert_eq!(verdict(&with(0.079), "latency 0 B"), CheckResult::NotMeasured);
    }

    #[test]
    fn other_models_of_heddle_are_no_peers() {
        let row = row(Key::new("rate", SINGLE, 8), "msg/s", &[("heddle:x", 9.0), ("a", 1.0), ("b", 2.0)]);
        assert_eq!(best_peer(&row), Some(("b", 2.0)));
    }

    #[test]
    fn nothing_measured_passes_nothing() {
        assert!(check(&[]).iter().all(|target| target.verdict == CheckResult::NotMeasured));
    }
}
