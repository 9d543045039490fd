//! Reductions of long vectors in pieces: a reduce-scatter by recursive halving leaves each rank with one
//! piece of the result, which is then gathered (R. Rabenseifner: *Optimization of Collective Reduction
//! Operations*, ICCS 2004, doi:10.1007/978-3-540-24685-5_1). Each rank sends and computes about one vector,
//! whatever the number of ranks; in a tree it would be ⌈log₂ n⌉ vectors.
//!
//! Operands are combined in the order of the rounds, not of the ranks, so the operator must
//! commute. Ranks here are the new ranks of a [`Fold`](crate::ranks::Fold); `actual` turns them into
//! ranks of the communicator.

use super::accumulator::Accumulator;
use crate::conversation::Conversation;
use crate::data::Elements;
use crate::ranks::halving;
use heddle_message::buffer::Buffer;
use std::ops::Range;

/// The first elements of each of `pieces` pieces of about the same size, and the end.
pub(crate) fn even_pieces(count: i64, pieces: usize) -> Vec<i64> {
    let (least, more) = (count / pieces as i64, count % pieces as i64);
    (0..=pieces as i64).map(|piece| piece * least + piece.min(more)).collect()
}

/// The pieces of a vector, and a rank among those that work on them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces<'s> {
    pub(crate) starts: &'s [i64],
    pub(crate) new_rank: usize,
}

impl Pieces<'_> {
    fn number(self) -> usize {
        self.starts.len() - 1
    }

    fn buffer(self, elements: Elements<'_>, pieces: &Range<usize>) -> Buffer {
        let (first, end) = (self.starts[pieces.start], self.starts[pieces.end]);
        elements.at(first).buffer(end - first)
    }

    /// Afterwards the result's piece `new_rank` is complete.
    pub(crate) fn reduce_scatter(
        self,
        talk: &mut Conversation<'_>,
        vector: &Accumulator<'_>,
        actual: impl Fn(usize) -> usize,
    ) {
        for round in halving::rounds(self.new_rank, self.number()) {
            let partner = actual(round.partner);
            let outgoing = self.buffer(vector.result, &round.give);
            let incoming = self.buffer(vector.spare, &round.keep);
            talk.exchange((partner, outgoing), (partner, incoming));
            vector.take_range(talk, self.starts[round.keep.start], self.starts[round.keep.end]);
        }
    }

    /// Afterwards all ranks have all pieces.
    pub(crate) fn allgather(
        self,
        talk: &mut Conversation<'_>,
        vector: Elements<'_>,
        actual: impl Fn(usize) -> usize,
    ) {
        for round in halving::rounds(self.new_rank, self.number()).rev() {
            let partner = actual(round.partner);
            let outgoing = self.buffer(vector, &round.keep);
            talk.exchange((partner, outgoing), (partner, self.buffer(vector, &round.give)));
        }
    }

    /// Afterwards rank 0 has all pieces.
    pub(crate) fn gather(
        self,
        talk: &mut Conversation<'_>,
        vector: Elements<'_>,
        actual: impl Fn(usize) -> usize,
    ) {
        for round in halving::rounds(self.new_rank, self.number()).rev() {
            let partner = actual(round.partner);
            if round.partner < self.new_rank {
                return talk.send(partner, self.buffer(vector, &round.keep));
            }
            talk.receive(partner, self.buffer(vector, &round.give));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_vector_evenly() {
        for count in [0, 1, 5, 64, 1000] {
            for pieces in [1, 2, 8, 64] {
                let starts = even_pieces(count, pieces);
                assert_eq!((starts.len(), starts[0], starts[pieces]), (pieces + 1, 0, count));
                let sizes = || starts.windows(2).map(|pair| pair[1] - pair[0]);
                assert!(sizes().max().expect("some") - sizes().min().expect("some") <= 1);
            }
        }
    }
}
