//! Broadcast of long messages: the root scatters pieces down a binomial tree, and a ring gathers them
//! everywhere (Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: *Interprocessor Collective Communication
//! Library*, SHPCC 1994, doi:10.1109/SHPCC.1994.296665). Each rank sends and receives about twice the
//! message, however many ranks there are.

use crate::conversation::Conversation;
use crate::ranks::{Binomial, Circle};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use std::ops::Range;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn bcast(talk: &mut Conversation<'_>, data: &Buffer, circle: Circle) -> Result<()> {
    let me = circle.relative(talk.rank());
    let (whole, is_copy) = talk.in_one_piece(data)?;
    let piece = data.len().div_ceil(circle.size);
    let bytes = |pieces: Range<usize>| {
        let start = (pieces.start * piece).min(data.len());
        let end = (pieces.end * piece).min(data.len());
        whole.at(start as i64).buffer((end - start) as i64)
    };
    if me == 0 && is_copy {
        talk.copy(data, &bytes(0..circle.size));
    }

    let node = Binomial::new(me, circle.size);
    if let Some(parent) = node.parent() {
        talk.receive(circle.rank(parent), bytes(node.subtree()));
    }
    for child in node.children().rev() {
        talk.send(circle.rank(child), bytes(Binomial::new(child, circle.size).subtree()));
    }

    // In the ring each rank passes on the piece that it received last, but never to the root: the root has
    // everything, and its memory must not be written. Inner nodes of the tree receive the pieces below them
    // again, which keeps the ring regular.
    let (next, previous) = (circle.rank(me + 1), circle.rank(me + circle.size - 1));
    for round in 0..circle.size - 1 {
        let outgoing = (me + circle.size - round) % circle.size;
        let incoming = (me + 2 * circle.size - round - 1) % circle.size;
        let (outgoing, incoming) = (bytes(outgoing..outgoing + 1), bytes(incoming..incoming + 1));
        if me == 0 {
            talk.send(next, outgoing);
        } else if me == circle.size - 1 {
            talk.receive(previous, incoming);
        } else {
            talk.exchange((next, outgoing), (previous, incoming));
        }
    }
    if me != 0 && is_copy {
        talk.copy(&bytes(0..circle.size), data);
    }
    Ok(())
}
