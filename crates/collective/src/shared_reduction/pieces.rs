//! Long vectors in chunks, each of which is published in a round, and chunks in pieces, one for each rank.

use crate::basic::even_pieces;
use crate::blackboard::Source;
use crate::ranks::published;
use heddle_blackboard::{AHEAD, Limits};
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

    /// Where this piece is if a rank publishes another piece, in which it lies.
    pub(crate) fn among(self, other: Piece, round: u32, rank: usize) -> Source {
        Source { round, rank, whole: other.len, offset: self.offset - other.offset }
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

    /// How many chunks there are: at least one.
    pub(crate) fn number(self) -> u32 {
        (self.count as u64).div_ceil(self.each as u64).max(1) as u32
    }

    /// A chunk, without elements if there are not so many.
    pub(crate) fn chunk(self, number: u32) -> Piece {
        let first = i64::from(number) * self.each;
        let count = self.each.min(self.count - first).max(0);
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

    /// The elements of the longest piece of any chunk.
    pub(crate) fn longest_piece(self, ranks: usize) -> i64 {
        self.pieces(0, ranks)[0].count
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

/// The part of a chunk that a rank publishes: the other ranks need all pieces but its own.
pub(super) fn of_others(pieces: &[Piece], rank: usize) -> Piece {
    let needed = published(rank, pieces.len());
    let (first, last) = (pieces[needed.start], pieces[needed.end - 1]);
    Piece {
        first: first.first,
        count: last.first + last.count - first.first,
        offset: first.offset,
        len: last.offset + last.len - first.offset,
    }
}

/// How many chunks are published before their pieces are computed, and how many pieces before those of the
/// others are copied. So twice as many rounds are in flight.
const CHUNKS_AHEAD: u32 = 4;

const _: () = assert!(2 * CHUNKS_AHEAD <= AHEAD);

/// The rounds of a vector whose chunks are computed in pieces: one for the operands of each chunk, and one
/// for the pieces of its result. They are numbered as they are published.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoRounds {
    number: u32,
    ahead: u32,
}

impl TwoRounds {
    pub(crate) fn of(chunks: Chunks) -> TwoRounds {
        let number = chunks.number();
        TwoRounds { number, ahead: CHUNKS_AHEAD.min(number) }
    }

    pub(crate) fn total(self) -> u32 {
        2 * self.number
    }

    /// The round of a chunk's operands.
    pub(crate) fn operands(self, chunk: u32) -> u32 {
        if chunk < self.ahead { chunk } else { 2 * chunk - self.ahead + 1 }
    }

    /// The round of a chunk's result.
    pub(crate) fn result(self, chunk: u32) -> u32 {
        if chunk + self.ahead < self.number { self.ahead + 2 * chunk } else { self.number + chunk }
    }

    /// Publishes, computes and collects, chunk by chunk.
    pub(crate) fn go_through<T>(
        self,
        talk: &mut T,
        publish: impl Fn(&mut T, u32),
        compute: impl Fn(&mut T, u32),
        collect: impl Fn(&mut T, u32),
    ) {
        for chunk in 0..self.ahead {
            publish(talk, chunk);
        }
        for chunk in 0..self.number {
            compute(talk, chunk);
            if chunk + self.ahead < self.number {
                publish(talk, chunk + self.ahead);
            }
            if chunk + 1 >= self.ahead {
                collect(talk, chunk + 1 - self.ahead);
            }
        }
        for chunk in self.number + 1 - self.ahead..self.number {
            collect(talk, chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_lie_in_the_chunks_that_it_meets() {
        let chunks =
            Chunks::new(20, 8, Limits { bytes: 64, parts: 20, exposed: None, each_has_a_core: false })
                .expect("elements fit");
        let parts = |elements: Range<i64>| {
            let part = |number| chunks.part_of(number, elements.clone());
            (0..4)
                .map(|number| part(number).map(|it| (it.first, it.count, it.offset, it.len)))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts(5..18), [Some((5, 3, 40, 24)), Some((8, 8, 0, 64)), Some((16, 2, 0, 16)), None]);
        assert_eq!(parts(9..10), [None, Some((9, 1, 8, 8)), None, None]);
        assert_eq!(parts(3..3), [None; 4]);
    }

    #[test]
    fn chunks_and_their_pieces_cover_the_vector() {
        let limits = Limits { bytes: 64, parts: 20, exposed: None, each_has_a_core: false };
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
    #[test]
    fn rounds_are_published_in_the_order_of_their_numbers_and_each_chunk_is_collected_once() {
        for number in 1..20 {
            let chunks = Chunks::new(
                i64::from(number),
                8,
                Limits { bytes: 8, parts: 20, exposed: None, each_has_a_core: false },
            );
            let rounds = TwoRounds::of(chunks.expect("elements fit"));
            let (mut published, mut collected) = (0..rounds.total(), 0..number);
            let mut done = (&mut published, &mut collected);
            rounds.go_through(
                &mut done,
                |_, _| (),
                |_, _| (),
                |(_, collected), chunk| assert_eq!(collected.next(), Some(chunk)),
            );
            rounds.go_through(
                &mut done,
                |(published, _), chunk| assert_eq!(published.next(), Some(rounds.operands(chunk))),
                |(published, _), chunk| assert_eq!(published.next(), Some(rounds.result(chunk))),
                |_, _| (),
            );
            assert_eq!((published.next(), collected.next()), (None, None));
        }
    }
}
