//! Allreduce of long vectors in pieces, which are gathered everywhere (see `scattered_reduction.rs`).

use crate::basic::{Accumulator, Pieces, Side, even_pieces};
use crate::conversation::Conversation;
use crate::ranks::{Fold, Role};

/// The vector's result becomes that of all ranks. The operator commutes.
pub(super) fn allreduce(talk: &mut Conversation<'_>, vector: &mut Accumulator<'_>) {
    let fold = Fold::new(talk.size());
    let (new_rank, absorbs) = match fold.role(talk.rank()) {
        Role::Leaves(to) => {
            vector.send(talk, to);
            return talk.receive(to, vector.result.buffer(vector.count));
        }
        Role::Stays { new_rank, absorbs } => (new_rank, absorbs),
    };
    if let Some(other) = absorbs {
        vector.receive(talk, other, Side::Higher);
    }
    let starts = even_pieces(vector.count, fold.kept());
    let pieces = Pieces { starts: &starts, new_rank };
    pieces.reduce_scatter(talk, vector, |new_rank| fold.rank_of(new_rank));
    pieces.allgather(talk, vector.result, |new_rank| fold.rank_of(new_rank));
    if let Some(other) = absorbs {
        vector.send(talk, other);
    }
}
