//! The binomial tree over the ranks 0 to n − 1: ⌈log₂ n⌉ rounds, and every subtree is a range of ranks.
//!
//! ```text
//!            0
//!       ┌────┼───────┐          the parent of a rank: its lowest set bit cleared
//!       1    2       4          its children: one of its trailing zero bits set
//!            │     ┌─┴─┐
//!            3     5   6
//!                      │
//!                      7
//! ```

use std::ops::Range;

/// The position of one rank in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binomial {
    rank: usize,
    size: usize,
}

impl Binomial {
    pub(crate) fn new(rank: usize, size: usize) -> Binomial {
        Binomial { rank, size }
    }

    /// The parent; none for rank 0.
    pub(crate) fn parent(self) -> Option<usize> {
        (self.rank != 0).then_some(self.rank & self.rank.wrapping_sub(1))
    }

    /// The children, that of the smallest subtree first.
    pub(crate) fn children(self) -> impl DoubleEndedIterator<Item = usize> {
        let bits = if self.rank == 0 { usize::BITS - 1 } else { self.rank.trailing_zeros() };
        let bits = bits.min(self.size.next_power_of_two().trailing_zeros());
        (0..bits).map(move |bit| self.rank | 1 << bit).filter(move |&child| child < self.size)
    }

    /// The ranks of the subtree, this one first.
    pub(crate) fn subtree(self) -> Range<usize> {
        let len = if self.rank == 0 { self.size } else { 1 << self.rank.trailing_zeros() };
        self.rank..(self.rank + len).min(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_a_child_once_and_subtrees_are_ranges() {
        for size in 1..70 {
            let mut seen = vec![0; size];
            for rank in 0..size {
                let node = Binomial::new(rank, size);
                let mut expected = rank + 1;
                for child in node.children() {
                    assert_eq!(Binomial::new(child, size).parent(), Some(rank));
                    let subtree = Binomial::new(child, size).subtree();
                    assert_eq!(subtree.start, expected, "subtrees follow each other");
                    expected = subtree.end;
                    seen[child] += 1;
                }
                assert_eq!(expected, node.subtree().end);
            }
            assert!(seen[0] == 0 && seen[1..].iter().all(|&times| times == 1));
        }
    }
}
