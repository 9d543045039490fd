//! Reduces the number of ranks to a power of two, as the algorithms that halve and double need.
//!
//! With n = 2^k + r ranks, the first 2r form pairs of neighbours. The odd one of a pair gives its data
//! to the even one and leaves; at the end it receives the result. The ranks that stay get new ranks in
//! the same order, so operators that do not commute keep the order of their operands (Thakur,
//! Rabenseifner, Gropp: *Optimization of Collective Communication Operations in MPICH*, IJHPCA 19(1),
//! 2005, doi:10.1177/1094342005051521).

use std::ops::Range;

/// The pairs for a number of ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold {
    pairs: usize,
    kept: usize,
}

/// The part of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It gives its data to this rank, and waits for the result.
    Leaves(usize),
    /// It stays, with a new rank, and first takes the data of another one if there is one.
    Stays {
        /// Its rank among those that stay.
        new_rank: usize,
        /// The rank that gives it its data and leaves.
        absorbs: Option<usize>,
    },
}

impl Fold {
    pub(crate) fn new(size: usize) -> Fold {
        let kept = 1 << size.ilog2();
        Fold { pairs: size - kept, kept }
    }

    /// The number of ranks that stay, a power of two.
    pub(crate) fn kept(self) -> usize {
        self.kept
    }

    pub(crate) fn role(self, rank: usize) -> Role {
        if rank >= 2 * self.pairs {
            Role::Stays { new_rank: rank - self.pairs, absorbs: None }
        } else if rank.is_multiple_of(2) {
            Role::Stays { new_rank: rank / 2, absorbs: Some(rank + 1) }
        } else {
            Role::Leaves(rank - 1)
        }
    }

    /// The old rank of a new one.
    pub(crate) fn rank_of(self, new_rank: usize) -> usize {
        if new_rank < self.pairs { 2 * new_rank } else { new_rank + self.pairs }
    }

    /// The old ranks that a new one stands for.
    pub(crate) fn ranks_of(self, new_rank: usize) -> Range<usize> {
        let first = self.rank_of(new_rank);
        first..first + if new_rank < self.pairs { 2 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_stay_are_a_power_of_two_and_stand_for_all_in_order() {
        for size in 1..70 {
            let fold = Fold::new(size);
            assert!(fold.kept().is_power_of_two() && fold.kept() <= size && size < 2 * fold.kept());
            let all: Vec<usize> = (0..fold.kept()).flat_map(|new_rank| fold.ranks_of(new_rank)).collect();
            assert_eq!(all, (0..size).collect::<Vec<_>>());
            for rank in 0..size {
                match fold.role(rank) {
                    Role::Leaves(to) => assert!(
                        matches!(fold.role(to), Role::Stays { absorbs: Some(who), .. } if who == rank)
                    ),
                    Role::Stays { new_rank, absorbs } => {
                        assert_eq!(fold.rank_of(new_rank), rank);
                        assert!(absorbs.is_none_or(|who| fold.role(who) == Role::Leaves(rank)));
                    }
                }
            }
        }
    }
}
