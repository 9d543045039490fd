//! A table of algorithms for collective operations, which a file holds (`HEDDLE_COLLECTIVES`).
//!
//! Each line is a rule: an operation, numbers of processes, numbers of bytes, and the algorithm that it then
//! has. A range has both its ends, one end may be missing, and `K` and `M` stand for KiB and MiB. The first
//! rule that holds is the one that counts; without one the choice is `auto`. `#` begins a comment.
//!
//! ```text
//! # operation  processes  bytes     algorithm
//! bcast        2          4M..      binomial
//! allreduce    3..8       ..64K     recursive-doubling
//! ```
//!
//! The bytes are those of the data (`bcast`), of the vector (`reduce`, `allreduce`, `scan`), or of a block
//! per process (all others; where blocks differ, their mean). A `barrier` has none. Of `MPI_Gatherv`,
//! `MPI_Scatterv`, `MPI_Alltoallv` and `MPI_Alltoallw` no process knows all blocks, so the table does not
//! speak of them.

use crate::algorithm::Algorithm;
use crate::collective_operation::CollectiveOperation;
use heddle_model::{Choice, OneOf, ValueKind};
use std::fmt;
use std::fs;
use std::ops::RangeInclusive;

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whose algorithm it is.
    pub operation: CollectiveOperation,
    /// The numbers of processes.
    pub ranks: RangeInclusive<usize>,
    /// The numbers of bytes.
    pub bytes: RangeInclusive<usize>,
    /// The algorithm that the operation then has.
    pub algorithm: Algorithm,
}

impl Rule {
    /// Reads the words of a line.
    fn parse(line: &str) -> Result<Rule, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [operation, ranks, bytes, algorithm] = words[..] else {
            return Err("an operation, processes, bytes and an algorithm are wanted".to_owned());
        };
        let operations = OneOf { values: &CollectiveOperation::ALL, name: CollectiveOperation::name };
        let operation = operations
            .read(operation)
            .map_err(|wanted| format!("\"{operation}\" is no operation: {wanted}"))?;
        let ranks = range(ranks).ok_or_else(|| {
            format!("\"{ranks}\" are no numbers of processes: 2, 3..8, 9.. and ..16 would be some")
        })?;
        let bytes = range(bytes).ok_or_else(|| {
            format!("\"{bytes}\" are no numbers of bytes: 8, 9..4K, 4M.. and .. would be some")
        })?;
        let algorithms = OneOf { values: operation.algorithms(), name: Algorithm::name };
        let algorithm = algorithms
            .read(algorithm)
            .map_err(|wanted| format!("\"{algorithm}\" is no algorithm of {}: {wanted}", operation.name()))?;
        Ok(Rule { operation, ranks, bytes, algorithm })
    }

    fn holds(&self, ranks: usize, bytes: usize) -> bool {
        self.ranks.contains(&ranks) && self.bytes.contains(&bytes)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, algorithm) = (self.operation.name(), self.algorithm.name());
        write!(out, "{operation:<15} {:<10} {:<16} {algorithm}", shown(&self.ranks), shown(&self.bytes))
    }
}

/// Reads a range with both its ends, or one number.
fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let end = |text: &str, missing| if text.is_empty() { Some(missing) } else { number_with_unit(text) };
    let range = match text.split_once("..") {
        Some((low, high)) => end(low, 0)?..=end(high, usize::MAX)?,
        None => number_with_unit(text).map(|number| number..=number)?,
    };
    (!range.is_empty()).then_some(range)
}

/// Reads a number, with `K` or `M` of as many KiB or MiB.
pub fn number_with_unit(text: &str) -> Option<usize> {
    let units = [(['K', 'k'], 1 << 10), (['M', 'm'], 1 << 20)];
    let with_unit = units.iter().find_map(|&(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
    let (digits, unit) = with_unit.unwrap_or((text, 1));
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// A range as [`range`] reads it.
fn shown(range: &RangeInclusive<usize>) -> String {
    let number = |number: usize| match number {
        0 => "0".to_owned(),
        mib if mib % (1 << 20) == 0 => format!("{}M", mib >> 20),
        kib if kib % (1 << 10) == 0 => format!("{}K", kib >> 10),
        other => other.to_string(),
    };
    match (*range.start(), *range.end()) {
        (low, high) if low == high => number(low),
        (0, usize::MAX) => "..".to_owned(),
        (0, high) => format!("..{}", number(high)),
        (low, usize::MAX) => format!("{}..", number(low)),
        (low, high) => format!("{}..{}", number(low), number(high)),
    }
}

/// The rules of a file.
#[derive(Debug, Clone)]
pub struct CollectiveTable {
    path: String,
    /// By operation.
    rules: [Vec<Rule>; CollectiveOperation::ALL.len()],
}

impl CollectiveTable {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence that names the line and says what is wanted there.
    pub fn read(path: &str) -> Result<CollectiveTable, String> {
        let text = fs::read_to_string(path)
            .map_err(|error| format!("the table of algorithms cannot be read: {error}"))?;
        CollectiveTable::parse(path, &text)
    }

    pub(crate) fn parse(path: &str, text: &str) -> Result<CollectiveTable, String> {
        let mut table = CollectiveTable { path: path.to_owned(), rules: Default::default() };
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            if !line.trim().is_empty() {
                let rule = Rule::parse(line).map_err(|why| format!("line {}: {why}", at + 1))?;
                table.rules[rule.operation as usize].push(rule);
            }
        }
        Ok(table)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The algorithm of an operation of so many processes and bytes.
    #[must_use]
    pub fn algorithm(&self, operation: CollectiveOperation, ranks: usize, bytes: usize) -> Algorithm {
        let rules = &self.rules[operation as usize];
        let rule = rules.iter().find(|rule| rule.holds(ranks, bytes));
        rule.map_or(Algorithm::Auto, |rule| rule.algorithm)
    }

    /// All rules, in an order in which they mean the same.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<CollectiveTable, String> {
        CollectiveTable::parse("a.table", text)
    }

    #[test]
    fn the_first_rule_that_holds_counts() {
        let text = "# of a machine\n\nbcast 2 4M.. binomial # long\nbcast 2..8 .. scatter-ring\n\
                    allreduce ..4 ..64K recursive-doubling\nbarrier 3 .. dissemination\n";
        let table = table(text).expect("a table");
        for (operation, ranks, bytes, algorithm) in [
            (CollectiveOperation::Bcast, 2, 4 << 20, Algorithm::Binomial),
            (CollectiveOperation::Bcast, 2, (4 << 20) - 1, Algorithm::ScatterRing),
            (CollectiveOperation::Bcast, 8, 0, Algorithm::ScatterRing),
            (CollectiveOperation::Bcast, 9, 0, Algorithm::Auto),
            (CollectiveOperation::Allreduce, 1, 64 << 10, Algorithm::RecursiveDoubling),
            (CollectiveOperation::Allreduce, 4, (64 << 10) + 1, Algorithm::Auto),
            (CollectiveOperation::Allreduce, 5, 8, Algorithm::Auto),
            (CollectiveOperation::Barrier, 3, 0, Algorithm::Dissemination),
            (CollectiveOperation::Scan, 3, 0, Algorithm::Auto),
        ] {
            assert_eq!(
                table.algorithm(operation, ranks, bytes),
                algorithm,
                "{operation:?} of {ranks}, {bytes} bytes"
            );
        }
    }

    #[test]
    fn a_rule_is_read_as_it_was_written() {
        for text in [
            "bcast           2          4M..             binomial",
            "allreduce       3..8       1025..64K        recursive-doubling",
            "reduce_scatter  ..16       0                pairwise",
            "barrier         ..         ..               auto",
        ] {
            assert_eq!(Rule::parse(text).expect("a rule").to_string(), text);
        }
    }

    #[test]
    fn a_wrong_line_is_named_with_what_is_wanted() {
        for (line, why) in [
            ("bcast 2 8", "an operation, processes, bytes and an algorithm are wanted"),
            ("bcast 2 8 auto auto", "an operation, processes, bytes and an algorithm are wanted"),
            ("broadcast 2 8 auto", "\"broadcast\" is no operation: one of barrier, bcast,"),
            ("bcast two 8 auto", "\"two\" are no numbers of processes"),
            ("bcast 4..2 8 auto", "\"4..2\" are no numbers of processes"),
            ("bcast 2 8KB auto", "\"8KB\" are no numbers of bytes"),
            ("bcast 2 99999999999999M auto", "\"99999999999999M\" are no numbers of bytes"),
            (
                "bcast 2 8 bruck",
                "\"bruck\" is no algorithm of bcast: one of auto, blackboard, leaders, binomial,",
            ),
        ] {
            let error = table(&format!("scan 2 8 auto\n\n{line}\n")).expect_err(line);
            assert!(error.starts_with(&format!("line 3: {why}")), "{error}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = CollectiveTable::read("/nowhere/a.table").expect_err("no file");
        assert!(error.starts_with("the table of algorithms cannot be read: "), "{error}");
    }
}
