//! The ranks that share a machine, and so memory.

use std::ops::Range;

/// The ranks of the job that run on this process's machine, in ascending order, numbered from 0. The machine
/// is one as far as they can share memory: a container with a namespace of processes of its own is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalRanks(Kept);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    /// Ranks that follow one another: constant memory.
    Range(Range<u32>),
    List(Box<[u32]>),
}

impl LocalRanks {
    /// All ranks of a job of `size`.
    #[must_use]
    pub fn all(size: u32) -> LocalRanks {
        LocalRanks(Kept::Range(0..size))
    }

    /// These ranks, in ascending order.
    #[must_use]
    pub fn of(ranks: Vec<u32>) -> LocalRanks {
        debug_assert!(ranks.is_sorted_by(|a, b| a < b));
        match (ranks.first(), ranks.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize + 1 == ranks.len() => {
                LocalRanks(Kept::Range(first..last + 1))
            }
            _ => LocalRanks(Kept::List(ranks.into())),
        }
    }

    /// The number of the ranks.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Range(range) => range.len(),
            Kept::List(list) => list.len(),
        }
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a rank of the job among the local ones; `None` if it runs on another machine.
    #[inline]
    #[must_use]
    pub fn index_of(&self, rank: u32) -> Option<usize> {
        match &self.0 {
            Kept::Range(range) => range.contains(&rank).then(|| (rank - range.start) as usize),
            Kept::List(list) => list.binary_search(&rank).ok(),
        }
    }

    /// The rank in the job of the local rank with this number.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn rank(&self, index: usize) -> u32 {
        match &self.0 {
            Kept::Range(range) => {
                assert!(index < range.len(), "there are {} local ranks", range.len());
                range.start + index as u32
            }
            Kept::List(list) => list[index],
        }
    }

    /// The ranks, if they follow one another.
    #[must_use]
    pub fn range(&self) -> Option<Range<u32>> {
        match &self.0 {
            Kept::Range(range) => Some(range.clone()),
            Kept::List(_) => None,
        }
    }

    /// The ranks in the job.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|index| self.rank(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_their_numbers() {
        for ranks in [vec![4, 5, 6], vec![0], vec![1, 3, 8]] {
            let local = LocalRanks::of(ranks.clone());
            assert_eq!(local.len(), ranks.len());
            assert!(local.iter().eq(ranks.iter().copied()));
            assert!(local.range().is_none_or(|range| range.eq(ranks.iter().copied())));
            for rank in 0..10 {
                assert_eq!(local.index_of(rank), ranks.iter().position(|&one| one == rank));
            }
        }
        assert_eq!(LocalRanks::of(vec![0, 1, 2]), LocalRanks::all(3));
    }
}
