//! Reduce of long vectors in pieces, which are gathered at the root (see `scattered_reduction.rs`).

use crate::basic::{Accumulator, Pieces, Side, even_pieces};
use crate::conversation::Conversation;
use crate::data::{Elements, Part, Reduction};
use crate::ranks::{Circle, Fold, Role};
use heddle_comm::error::Result;

/// `destination`: where the root wants the result. The operator commutes.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn reduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    circle: Circle,
) -> Result<()> {
    let (fold, count) = (Fold::new(circle.size), operands.count);
    // The root is rank 0 of the circle, so it stays and gets new rank 0.
    let (new_rank, absorbs) = match fold.role(circle.relative(talk.rank())) {
        Role::Leaves(to) => {
            talk.send(circle.rank(to), operands.buffer());
            return Ok(());
        }
        Role::Stays { new_rank, absorbs } => (new_rank, absorbs),
    };
    let (result, spare) = (talk.vector_in(destination, reduction, count)?, talk.vector(reduction, count)?);
    let mut vector = Accumulator { reduction, result, spare, count };
    if operands.elements.address() != result.address() {
        talk.copy(&operands.buffer(), &result.buffer(count));
    }
    if let Some(other) = absorbs {
        vector.receive(talk, circle.rank(other), Side::Higher);
    }
    let starts = even_pieces(count, fold.kept());
    let pieces = Pieces { starts: &starts, new_rank };
    let actual = |new_rank| circle.rank(fold.rank_of(new_rank));
    pieces.reduce_scatter(talk, &vector, actual);
    pieces.gather(talk, vector.result, actual);
    Ok(())
}
