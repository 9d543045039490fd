//! Gather up a binomial tree: ⌈log₂ n⌉ rounds, for blocks so small that copying them at inner nodes costs
//! less than a message for each at the root.

use crate::conversation::Conversation;
use crate::data::Blocks;
use crate::ranks::{Binomial, Circle};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn gather(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    block_len: usize,
    blocks: Option<&dyn Blocks>,
    circle: Circle,
) -> Result<()> {
    let node = Binomial::new(circle.relative(talk.rank()), circle.size);
    let subtree = node.subtree();
    let parent = node.parent().map(|parent| circle.rank(parent));
    if let (Some(parent), Some(send), 1) = (parent, &send, subtree.len()) {
        talk.send(parent, *send);
        return Ok(());
    }

    let collected = talk.temporary_bytes(subtree.len() * block_len)?;
    let bytes = |first: usize, number: usize| {
        let offset = (first - subtree.start) * block_len;
        collected.at(offset as i64).buffer((number * block_len) as i64)
    };
    if let (Some(send), None) = (&send, blocks) {
        talk.copy(send, &bytes(subtree.start, 1));
    }
    for child in node.children() {
        let below = Binomial::new(child, circle.size).subtree();
        talk.receive(circle.rank(child), bytes(child, below.len()));
    }
    if let Some(parent) = parent {
        talk.send(parent, bytes(subtree.start, subtree.len()));
    }
    if let Some(blocks) = blocks {
        if let Some(send) = send {
            talk.copy(&send, &blocks.block(circle.root));
        }
        for relative in 1..circle.size {
            talk.copy(&bytes(relative, 1), &blocks.block(circle.rank(relative)));
        }
    }
    Ok(())
}
