//! The rules for what was taken, and the file that holds them.

use std::fmt::Write as _;

use heddle_settings::{Algorithm, CollectiveOperation, Rule};

use super::grid::Grid;
use crate::bench::record::Results;
use crate::harness::rounds::median;
use crate::report::target::shown;

/// An algorithm that was quicker than the choice without a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Taken {
    pub(super) operation: CollectiveOperation,
    /// Processes.
    pub(super) ranks: u32,
    /// Bytes.
    pub(super) size: u64,
    pub(super) algorithm: Algorithm,
    /// How many times as fast it was.
    pub(super) speed: f64,
}

/// The rules for what was taken, each with the lowest and the highest speed of its sizes. Neighbouring sizes
/// with one algorithm have one rule.
fn rules(grid: &Grid, all: &[Taken]) -> Vec<(Rule, (f64, f64))> {
    let mut rules = Vec::new();
    for operation in CollectiveOperation::ALL {
        for ranks in grid.ranks() {
            let at = |size| {
                let mut all = all.iter();
                all.find(|it| (it.operation, it.ranks, it.size) == (operation, ranks, size)).copied()
            };
            let sizes: Vec<(u64, Option<Taken>)> =
                grid.sizes(operation, ranks).into_iter().map(|size| (size, at(size))).collect();
            let same = |a: &(u64, Option<Taken>), b: &(u64, Option<Taken>)| {
                a.1.map(|it| it.algorithm) == b.1.map(|it| it.algorithm)
            };
            for neighbours in sizes.chunk_by(same) {
                let [(first, Some(Taken { algorithm, .. })), ..] = *neighbours else { continue };
                let last = neighbours.last().map_or(first, |(size, _)| *size);
                let speeds = || neighbours.iter().filter_map(|(_, taken)| taken.map(|it| it.speed));
                let (low, high) =
                    (speeds().fold(f64::INFINITY, f64::min), speeds().fold(f64::NEG_INFINITY, f64::max));
                let (ranks, bytes) = (grid.processes(ranks), grid.bytes(operation, ranks, (first, last)));
                rules.push((Rule { operation, ranks, bytes, algorithm }, (low, high)));
            }
        }
    }
    rules
}

/// The file.
pub(super) fn page(results: &Results, grid: &Grid, all: &[Taken]) -> String {
    let (run, probe) =
        (&results.run, results.measurements.iter().flat_map(|m| m.line.probe_ns.iter().copied()));
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let mut page = String::new();
    let _ = writeln!(
        page,
        "# For HEDDLE_COLLECTIVES. Made by `heddle bench collective --tune` on {} (Heddle {}, {}).\n# {}",
        run.started,
        results.version,
        results.commit,
        run.machine.sentence()
    );
    if let Some(probe) = median(probe) {
        let probe = shown(Some(probe));
        let _ = writeln!(page, "# A cache line went from one core to another and back in {probe} ns.");
    }
    let rules = rules(grid, all);
    if rules.is_empty() {
        page.push_str("# No algorithm was quicker than the choice without a table.\n");
        return page;
    }
    let _ = writeln!(page, "#\n# {:<13} {:<10} {:<16} algorithm", "operation", "processes", "bytes");
    for (rule, (low, high)) in rules {
        let times = if high - low < 0.01 { format!("{low:.2}") } else { format!("{low:.2} to {high:.2}") };
        let _ = writeln!(page, "{rule}  # {times} times as fast as without it");
    }
    page
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::grid::tests::grid;
    use super::{Algorithm, CollectiveOperation, Taken, page, rules};
    use crate::bench::record::Results;
    use crate::harness::machine::Machine;

    fn taken(ranks: u32, size: u64, algorithm: Algorithm, speed: f64) -> Taken {
        Taken { operation: CollectiveOperation::Bcast, ranks, size, algorithm, speed }
    }

    #[test]
    fn neighbouring_sizes_with_one_algorithm_have_one_rule() {
        let all = [
            taken(2, 8, Algorithm::Binomial, 1.5),
            taken(2, 32, Algorithm::Binomial, 1.25),
            taken(2, 128, Algorithm::ScatterRing, 2.0),
            taken(4, 8, Algorithm::Binomial, 1.1),
            taken(4, 128, Algorithm::Binomial, 1.2),
        ];
        let rules = rules(&grid(&[2, 4], &[8, 32, 128, 512]), &all);
        let shown: Vec<String> = rules.iter().map(|(rule, speeds)| format!("{rule} {speeds:?}")).collect();
        let words: Vec<Vec<&str>> = shown.iter().map(|rule| rule.split_whitespace().collect()).collect();
        assert_eq!(
            words,
            [
                ["bcast", "2", "..64", "binomial", "(1.25,", "1.5)"],
                ["bcast", "2", "65..256", "scatter-ring", "(2.0,", "2.0)"],
                ["bcast", "3..", "..16", "binomial", "(1.1,", "1.1)"],
                ["bcast", "3..", "65..256", "binomial", "(1.2,", "1.2)"],
            ]
        );
    }

    #[test]
    fn the_library_reads_the_file() {
        let results = Results::begin(SystemTime::now(), Machine::read(), Vec::new(), Vec::new());
        let grid = grid(&[2], &[8, 32]);
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("a name");
        for (all, algorithm) in [
            (vec![taken(2, 32, Algorithm::Binomial, 1.5)], Algorithm::Binomial),
            (Vec::new(), Algorithm::Auto),
        ] {
            std::fs::write(path, page(&results, &grid, &all)).expect("it is written");
            let table = heddle_settings::CollectiveTable::read(path).expect("a table");
            assert_eq!(table.algorithm(CollectiveOperation::Bcast, 2, 1000), algorithm);
            assert_eq!(table.algorithm(CollectiveOperation::Bcast, 2, 16), Algorithm::Auto);
        }
    }
}
