//! The blocks that a rank publishes for the others.

use std::ops::Range;

/// Whose blocks, of those for all of `size` ranks in a row, a rank publishes: nobody reads its own. If that
/// is in the middle, it is published, too.
pub(crate) fn published(rank: usize, size: usize) -> Range<usize> {
    if size == 1 {
        return 0..1;
    }
    usize::from(rank == 0)..size - usize::from(rank == size - 1)
}

#[cfg(test)]
mod tests {
    use super::published;

    #[test]
    fn a_block_at_an_end_is_not_published() {
        assert_eq!([0, 1, 2, 3].map(|rank| published(rank, 4)), [1..4, 0..4, 0..4, 0..3]);
        assert_eq!([0, 1].map(|rank| published(rank, 2)), [1..2, 0..1]);
        assert_eq!(published(0, 1), 0..1);
    }
}
