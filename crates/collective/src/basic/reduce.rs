//! Reduce up a binomial tree: ⌈log₂ n⌉ rounds of the whole vector. Subtrees are ranges of ranks, so
//! the order of operands is that of ranks; an operator that does not commute is reduced at rank 0,
//! which passes the result on.

use super::accumulator::{Accumulator, Side};
use crate::conversation::Conversation;
use crate::data::{Elements, Part, Reduction};
use crate::ranks::{Binomial, Circle};
use heddle_comm::error::Result;

/// `destination`: where the root wants the result.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(crate) fn reduce(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    operands: Part<'_>,
    destination: Option<Elements<'_>>,
    circle: Circle,
) -> Result<()> {
    let top = if reduction.commutes() { circle.root } else { 0 };
    let tree = Circle { root: top, ..circle };
    let node = Binomial::new(tree.relative(talk.rank()), circle.size);
    let (parent, count) = (node.parent().map(|parent| tree.rank(parent)), operands.count);

    if let (Some(parent), 1) = (parent, node.subtree().len()) {
        talk.send(parent, operands.buffer());
    } else {
        let (result, spare) =
            (talk.vector_in(destination, reduction, count)?, talk.vector(reduction, count)?);
        let mut vector = Accumulator { reduction, result, spare, count };
        if operands.elements.address() != result.address() {
            talk.copy(&operands.buffer(), &result.buffer(count));
        }
        for child in node.children() {
            vector.receive(talk, tree.rank(child), Side::Higher);
        }
        if let Some(parent) = parent {
            vector.send(talk, parent);
        } else if top != circle.root {
            vector.send(talk, circle.root);
        } else if let Some(destination) = destination {
            vector.deliver(talk, destination);
        }
    }
    if let Some(destination) = destination.filter(|_| top != circle.root) {
        talk.receive(top, destination.buffer(count));
    }
    Ok(())
}
