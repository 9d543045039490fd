//! The targets for many threads: threads as good as processes, fair, and not slower if there are more.

use super::figures::{COMMS, Figures, MULTIPLE, SINGLE};
use super::record::Key;
use crate::report::target::{Bound, Target};

/// Checks all of them.
pub(crate) fn check(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    self_pairs(figures, targets);
    thread_pairs(figures, targets);
    clients(figures, targets);
    testing(figures, targets);
    neighbors(figures, targets);
    sweeps(figures, targets);
}

fn at(bench: &str, threads: u32, comms: &str) -> Key {
    Key::new(bench, MULTIPLE, 8).threads(threads, comms)
}

/// Two threads that send to themselves do nearly twice what one does.
fn self_pairs(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for (comms, factor) in [("per-thread", 1.8), ("shared", 1.5), ("hinted", 1.5)] {
        let key = |threads| at("self", threads, comms).ranks(1);
        targets.push(figures.against_own(
            &format!("two threads to themselves against one, {comms} communicators"),
            &key(2),
            &key(1),
            Bound::AtLeast,
            factor,
        ));
    }
}

/// Pairs of threads against the peers, against one thread, and against pairs of processes.
fn thread_pairs(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for comms in COMMS {
        for (threads, factor) in [(2, 4.0), (4, 8.0), (8, 15.0), (16, 20.0)] {
            let rate = at("rate", threads, comms);
            let what = format!("message rate 8 B, {comms} communicators, {threads} threads");
            targets.push(figures.against_peer(
                &format!("{what}, against peers"),
                &rate,
                &rate,
                Bound::AtLeast,
                factor,
            ));
            targets.push(figures.against_own(
                &format!("{what}, against one"),
                &rate,
                &at("rate", 1, "shared"),
                Bound::AtLeast,
                0.5,
            ));
            targets.push(figures.against_own(
                &format!("{what}, against the same number of pairs of processes"),
                &rate,
                &Key::new("pairs", SINGLE, 8).ranks(2 * threads),
                Bound::AtLeast,
                0.9,
            ));
            targets.push(slowest_share(figures, &what, &rate, 0.5));
        }
        let rate = |threads| at("rate", threads, comms);
        targets.push(figures.against_own(
            &format!("message rate 8 B, {comms} communicators, 16 threads against 2"),
            &rate(16),
            &rate(2),
            Bound::AtLeast,
            0.5,
        ));
    }
}

/// The latency regime.
fn clients(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for (threads, factor) in [(2, 1.3), (4, 1.3), (8, 1.5), (16, 2.0)] {
        let key = at("clients", threads, "shared");
        let what = format!("requests of {threads} client threads");
        let against = format!("{what}, against peers");
        targets.push(figures.against_peer(&against, &key, &key, Bound::AtLeast, factor));
        targets.push(slowest_share(figures, &what, &key, 0.7));
    }
}

fn slowest_share(figures: &Figures<'_>, what: &str, key: &Key, limit: f64) -> Target {
    let share = figures.heddle(key).and_then(|figure| figure.share_min);
    let what = format!("{what}, share of the slowest in the mean");
    figures.absolute(&what, share, Bound::AtLeast, limit, "")
}

fn testing(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for comms in COMMS {
        let key = |threads| at("testing", threads, comms).op("test");
        targets.push(figures.against_own(
            &format!("completion by MPI_Test, {comms} communicators, 16 threads against 2"),
            &key(16),
            &key(2),
            Bound::AtLeast,
            0.5,
        ));
    }
}

/// Derived objects are as fast as predefined ones.
fn neighbors(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for threads in [1, 2, 4] {
        let key = |op| Key { size: 0, ..at("neighbor", threads, "shared").ranks(threads + 1).op(op) };
        targets.push(figures.against_own(
            &format!("derived objects against predefined ones, {threads} thread(s) with neighbors"),
            &key("derived"),
            &key("predefined"),
            Bound::AtLeast,
            0.97,
        ));
    }
}

/// Transport sweeps: never slower than the best peer, and faster where messages take much of the time.
fn sweeps(figures: &Figures<'_>, targets: &mut Vec<Target>) {
    for (op, size) in [("coarse", 8192), ("fine", 128)] {
        for comms in COMMS {
            for threads in [1, 2, 4] {
                let key = Key::new("sweep", MULTIPLE, size).op(op).threads(threads, comms);
                let factor = if op == "fine" && threads == 4 { 1.0 / 1.3 } else { 1.0 };
                targets.push(figures.against_peer(
                    &format!("transport sweep, {op} chunks, {comms} communicators, {threads} thread(s)"),
                    &key,
                    &key,
                    Bound::AtMost,
                    factor,
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, SINGLE, at};
    use crate::bench::targets::tests::{row, verdict};
    use crate::report::target::CheckResult;

    #[test]
    fn unfair_service_fails() {
        let clients = row(at("clients", 16, "shared"), "req/s", &[("heddle", 5.0)]);
        assert_eq!(verdict(&[clients], "requests of 16 client threads, share"), CheckResult::Fail);
    }

    #[test]
    fn threads_are_compared_with_the_same_number_of_processes() {
        let threads = row(at("rate", 4, "shared"), "msg/s", &[("heddle", 9.0), ("a", 1.0)]);
        let processes = |rate| row(Key::new("pairs", SINGLE, 8).ranks(8), "msg/s", &[("heddle", rate)]);
        let what = "message rate 8 B, shared communicators, 4 threads, against the same number";
        assert_eq!(verdict(&[threads.clone(), processes(9.9)], what), CheckResult::Pass);
        assert_eq!(verdict(&[threads.clone(), processes(10.1)], what), CheckResult::Fail);
        assert_eq!(verdict(&[threads], what), CheckResult::NotMeasured);
    }

    #[test]
    fn the_best_variant_of_a_peer_counts() {
        let figures = [("heddle", 8.5), ("a", 1.0), ("a-split", 1.1)];
        let rate = row(at("rate", 4, "per-thread"), "msg/s", &figures);
        let what = "message rate 8 B, per-thread communicators, 4 threads, against peers";
        assert_eq!(verdict(&[rate], what), CheckResult::Fail);
    }

    #[test]
    fn derived_objects_may_cost_three_percent() {
        let key = |op| Key { size: 0, ..at("neighbor", 2, "shared").ranks(3).op(op) };
        let rows = |derived| {
            [
                row(key("predefined"), "msg/s", &[("heddle", 100.0)]),
                row(key("derived"), "msg/s", &[("heddle", derived)]),
            ]
        };
        let what = "derived objects against predefined ones, 2";
        assert_eq!(verdict(&rows(97.5), what), CheckResult::Pass);
        assert_eq!(verdict(&rows(96.5), what), CheckResult::Fail);
    }
}
