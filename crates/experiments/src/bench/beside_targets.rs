//! The targets beside computation: with a computing process or thread on every core.

use super::case::Beside;
use super::figures::{Figures, MULTIPLE};
use super::record::Key;
use crate::report::target::{Bound, Target};

/// The part of its own figure without computing ones that is left: half would be fair.
const LEFT: f64 = 0.4;

/// Checks each figure against the best peer's and against Heddle's own without computation.
pub(crate) fn check(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    let key = |bench: &str| Key::new(bench, MULTIPLE, 8);
    let cases = [
        ("latency", key("latency"), Bound::AtMost),
        ("message rate", key("rate"), Bound::AtLeast),
        ("polling by MPI_Testany", key("testing").op("testany").threads(1, "per-thread"), Bound::AtLeast),
        ("message rate of 4 threads, shared communicator", key("rate").threads(4, "shared"), Bound::AtLeast),
    ];
    for (what, alone, bound) in cases {
        for beside in [Beside::Processes, Beside::Threads] {
            let what = format!("{what} beside computing {}", beside.name());
            let key = alone.clone().beside(beside);
            let part = if bound == Bound::AtMost { 1.0 / LEFT } else { LEFT };
            targets.push(figures.against_peer(&format!("{what}, against peers"), &key, &key, bound, 1.0));
            targets.push(figures.against_own(&format!("{what}, against none"), &key, &alone, bound, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Beside, Key, MULTIPLE};
    use crate::bench::targets::tests::{row, verdict};
    use crate::report::target::CheckResult;

    #[test]
    fn two_fifths_have_to_be_left() {
        let alone = Key::new("rate", MULTIPLE, 8);
        let rows = |rate| {
            [
                row(alone.clone(), "msg/s", &[("heddle", 10.0), ("a", 9.0)]),
                row(alone.clone().beside(Beside::Threads), "msg/s", &[("heddle", rate), ("a", 4.2)]),
            ]
        };
        let what = "message rate beside computing threads, against";
        assert_eq!(verdict(&rows(4.1), &format!("{what} none")), CheckResult::Pass);
        assert_eq!(verdict(&rows(3.9), &format!("{what} none")), CheckResult::Fail);
        assert_eq!(verdict(&rows(4.1), &format!("{what} peers")), CheckResult::Fail);
        assert_eq!(verdict(&rows(4.1), "message rate beside computing processes"), CheckResult::NotMeasured);
    }
}
