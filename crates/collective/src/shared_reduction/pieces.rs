//! Long vectors in chunks, each of which is published in a round, and chunks in pieces, one for each rank.

use crate::blackboard::Source;
use crate::scattered_reduction::even_pieces;
use heddle_comm::blackboard::Limits;
use std::ops::Range;

/// A vector in chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunks {
    count: i64,
    /// The elements of a chunk but the last one.
    each: i64,
    /// The bytes of an element.
    size: usize,
}

/// Elements of a chunk, and where they are among its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The first element in the vector.
    pub(crate) first: i64,
    pub(crate) count: i64,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Piece {
    /// What a rank publishes if it publishes this piece alone.
    pub(crate) fn source(self, round: u32, rank: usize) -> Source {
        Source { round, rank, whole: self.len, offset: 0 }
    }
}

impl Chunks {
    /// `count` elements of `size` bytes in chunks within limits; `None` if an element is too long, or there
    /// would be too many chunks.
    pub(crate) fn new(count: i64, size: usize, limits: Limits) -> Option<Chunks> {
        let each = limits.bytes.checked_div(size).map_or(count.max(1), |each| each as i64);
        let chunks = (each > 0).then_some(Chunks { count, each, size })?;
        ((count as u64).div_ceil(each as u64) <= u64::from(limits.parts)).then_some(chunks)
    }

    /// All elements in one chunk.
    pub(crate) fn one(count: i64, size: usize) -> Chunks {
        Chunks { count, each: count.max(1), size }
    }

    /// How many chunks there are: at least one.
    pub(crate) fn number(self) -> u32 {
        (self.count as u64).div_ceil(self.each as u64).max(1) as u32
    }

    /// A chunk.
    pub(crate) fn chunk(self, number: u32) -> Piece {
        let first = i64::from(number) * self.each;
        let count = self.each.min(self.count - first);
        Piece { first, count, offset: 0, len: count as usize * self.size }
    }

    /// The part of a chunk that lies among some elements of the vector.
    pub(crate) fn part_of(self, number: u32, elements: Range<i64>) -> Option<Piece> {
        let chunk = self.chunk(number);
        let first = elements.start.max(chunk.first);
        let count = elements.end.min(chunk.first + chunk.count) - first;
        let bytes = |elements: i64| elements as usize * self.size;
        (count > 0).then(|| Piece { first, count, offset: bytes(first - chunk.first), len: bytes(count) })
    }

    /// The pieces of a chunk, one for each of `ranks` ranks.
    pub(crate) fn pieces(self, number: u32, ranks: usize) -> Vec<Piece> {
        let chunk = self.chunk(number);
        let starts = even_pieces(chunk.count, ranks);
        let piece = |bounds: &[i64]| {
            let (first, count) = (bounds[0], bounds[1] - bounds[0]);
            Piece {
                first: chunk.first + first,
                count,
                offset: first as usize * self.size,
                len: count as usize * self.size,
            }
        };
        starts.windows(2).map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_lie_in_the_chunks_that_it_meets() {
        let chunks =
            Chunks::new(20, 8, Limits { bytes: 64, parts: 20, exposed: None }).expect("elements fit");
        let parts = |elements: Range<i64>| {
            let part = |number| chunks.part_of(number, elements.clone());
            (0..3)
                .map(|number| part(number).map(|it| (it.first, it.count, it.offset, it.len)))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts(5..18), [Some((5, 3, 40, 24)), Some((8, 8, 0, 64)), Some((16, 2, 0, 16))]);
        assert_eq!(parts(9..10), [None, Some((9, 1, 8, 8)), None]);
        assert_eq!(parts(3..3), [None, None, None]);
    }

    #[test]
    fn chunks_and_their_pieces_cover_the_vector() {
        let limits = Limits { bytes: 64, parts: 20, exposed: None };
        for (count, size) in [(0, 8), (1, 8), (8, 8), (9, 8), (100, 12), (7, 0)] {
            let chunks = Chunks::new(count, size, limits).expect("elements fit");
            let mut next = 0;
            for number in 0..chunks.number() {
                let chunk = chunks.chunk(number);
                assert!(chunk.len <= limits.bytes && chunk.first == next);
                let mut offset = 0;
                for piece in chunks.pieces(number, 3) {
                    assert_eq!((piece.first, piece.offset), (next, offset));
                    next += piece.count;
                    offset += piece.len;
                }
                assert_eq!((next, offset), (chunk.first + chunk.count, chunk.len));
            }
            assert_eq!(next, count);
        }
        assert!(Chunks::new(1, 65, limits).is_none(), "an element is too long");
        assert!(Chunks::new(161, 8, limits).is_none(), "there are too many chunks");
    }
}
