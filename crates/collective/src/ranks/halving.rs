//! Recursive halving: the blocks that two ranks exchange in each round, for 2^k ranks and 2^k blocks.
//!
//! In the first round partners are half of all ranks apart, and each gives the other half of the blocks away;
//! the next round does the same with the half that is left, until each rank has the block of its number. Run
//! backwards, with the blocks going in the other direction, this is recursive doubling: an allgather (Thakur,
//! Rabenseifner, Gropp 2005).

use std::ops::Range;

/// One round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) partner: usize,
    /// Blocks that this rank goes on with.
    pub(crate) keep: Range<usize>,
    /// Blocks that the partner goes on with.
    pub(crate) give: Range<usize>,
}

/// The rounds of `rank` of `size`, a power of two.
pub(crate) fn rounds(rank: usize, size: usize) -> impl DoubleEndedIterator<Item = Round> {
    debug_assert!(size.is_power_of_two() && rank < size);
    (0..size.trailing_zeros()).rev().map(move |bit| {
        let half = 1 << bit;
        let block = |rank: usize| (rank >> bit << bit)..(rank >> bit << bit) + half;
        Round { partner: rank ^ half, keep: block(rank), give: block(rank ^ half) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_agree_and_each_ends_with_its_own_block() {
        for size in [1, 2, 4, 8, 64] {
            for rank in 0..size {
                let mut held = 0..size;
                for (number, round) in rounds(rank, size).enumerate() {
                    let mirrored =
                        rounds(round.partner, size).nth(number).expect("the same number of rounds");
                    assert_eq!(
                        (mirrored.partner, &mirrored.keep, &mirrored.give),
                        (rank, &round.give, &round.keep)
                    );
                    let (start, end) =
                        (round.keep.start.min(round.give.start), round.keep.end.max(round.give.end));
                    assert_eq!(start..end, held);
                    held = round.keep;
                }
                assert_eq!(held, rank..rank + 1);
            }
        }
    }
}
