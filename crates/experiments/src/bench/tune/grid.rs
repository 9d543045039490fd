//! The numbers of processes and the sizes that are measured, and the ranges that each stands for.

use std::ops::RangeInclusive;

use heddle_settings::CollectiveOperation;

use crate::bench::case::MOST_RANKS_IN_LAB;
use crate::harness::machine::Machine;

/// Without a choice: powers of four, which rules separate at powers of two.
const SIZES: [u64; 11] = [8, 32, 128, 512, 2048, 8192, 1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 23];
/// The part of the machine's memory that a launch may take.
const PART_OF_MEMORY: u64 = 4;

/// The points that are measured: numbers of processes, and sizes for each.
#[derive(Debug)]
pub(super) struct Grid {
    ranks: Vec<u32>,
    sizes: Vec<u64>,
    memory: u64,
}

impl Grid {
    /// The given numbers of processes and sizes, or those for this machine.
    pub(super) fn new(machine: &Machine, ranks: &[u32], sizes: Option<&[u64]>) -> Self {
        let cores = machine.cores as u32;
        let most = if machine.simulated.is_some() { cores.min(MOST_RANKS_IN_LAB - 1) } else { cores };
        let powers = (1..u32::BITS - 1).map(|power| 1 << power).filter(|&ranks| ranks <= most.max(4));
        let mut ranks = if ranks.is_empty() { powers.collect() } else { ranks.to_vec() };
        let mut sizes = sizes.unwrap_or(&SIZES).to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        sizes.sort_unstable();
        sizes.dedup();
        Self { ranks, sizes, memory: machine.memory_mib << 20 }
    }

    /// The numbers of processes.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        self.ranks.iter().copied()
    }

    /// The sizes of an operation of so many processes: each has two buffers with a block for every other. A
    /// barrier has one.
    pub(super) fn sizes(&self, operation: CollectiveOperation, ranks: u32) -> Vec<u64> {
        if operation == CollectiveOperation::Barrier {
            return vec![8];
        }
        let most = self.memory / PART_OF_MEMORY / 2 / u64::from(ranks).pow(2);
        let (first, others) = self.sizes.split_first().expect("a size is measured");
        [*first].into_iter().chain(others.iter().copied().filter(|&size| size <= most)).collect()
    }

    /// How many sizes are measured, of all operations and numbers of processes.
    pub(super) fn points(&self) -> usize {
        let sizes = |operation| self.ranks().map(move |ranks| self.sizes(operation, ranks).len());
        CollectiveOperation::ALL.into_iter().flat_map(sizes).sum()
    }

    /// The numbers of processes for which a measured one stands: those below it, down to the next measured
    /// one; for the largest all above it, too.
    pub(super) fn processes(&self, ranks: u32) -> RangeInclusive<usize> {
        let lower = self.ranks.iter().rev().find(|&&other| other < ranks);
        let low = lower.map_or(ranks, |&lower| lower + 1) as usize;
        let is_last = self.ranks.last() == Some(&ranks);
        low..=if is_last { usize::MAX } else { ranks as usize }
    }

    /// The bytes for which the measured sizes from `first` to `last` stand: half of the way to the next ones,
    /// on a logarithmic scale, and all beyond the last on either side.
    pub(super) fn bytes(
        &self,
        operation: CollectiveOperation,
        ranks: u32,
        (first, last): (u64, u64),
    ) -> RangeInclusive<usize> {
        let sizes = self.sizes(operation, ranks);
        let between = |low: u64, high: u64| (low as f64 * high as f64).sqrt() as usize;
        let lower = sizes.iter().rev().find(|&&size| size < first);
        let higher = sizes.iter().find(|&&size| size > last);
        let low = lower.map_or(0, |&lower| between(lower, first) + 1);
        low..=higher.map_or(usize::MAX, |&higher| between(last, higher))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{CollectiveOperation, Grid, SIZES};

    /// Of a machine with much memory.
    pub(in crate::bench::tune) fn grid(ranks: &[u32], sizes: &[u64]) -> Grid {
        Grid { ranks: ranks.to_vec(), sizes: sizes.to_vec(), memory: 1 << 40 }
    }

    #[test]
    fn every_number_from_two_on_stands_for_a_measured_one() {
        let grid = grid(&[2, 4, 16], &[8]);
        assert_eq!(grid.processes(2), 2..=2);
        assert_eq!(grid.processes(4), 3..=4);
        assert_eq!(grid.processes(16), 5..=usize::MAX);
    }

    #[test]
    fn every_number_of_bytes_belongs_to_one_size() {
        let grid = grid(&[2], &[8, 32, 128]);
        let bytes = |first, last| grid.bytes(CollectiveOperation::Bcast, 2, (first, last));
        assert_eq!(bytes(8, 8), 0..=16);
        assert_eq!(bytes(32, 32), 17..=64);
        assert_eq!(bytes(128, 128), 65..=usize::MAX);
        assert_eq!(bytes(8, 32), 0..=64);
        assert_eq!(bytes(8, 128), 0..=usize::MAX);
    }

    #[test]
    fn buffers_take_a_part_of_the_memory() {
        let grid = Grid { ranks: vec![2, 64], sizes: SIZES.to_vec(), memory: 16 << 30 };
        assert_eq!(grid.sizes(CollectiveOperation::Bcast, 2), SIZES);
        assert_eq!(grid.sizes(CollectiveOperation::Bcast, 64).last(), Some(&(1 << 19)));
        assert_eq!(grid.sizes(CollectiveOperation::Barrier, 64), [8]);
        assert_eq!(grid.points(), 2 + 9 * (11 + 9));
    }
}
