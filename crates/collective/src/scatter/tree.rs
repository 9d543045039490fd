//! Scatter down a binomial tree: ⌈log₂ n⌉ rounds, for blocks so small that copying them at inner nodes costs
//! less than a message for each at the root.

use crate::conversation::Conversation;
use crate::data::Blocks;
use crate::ranks::{Binomial, Circle};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn scatter(
    talk: &mut Conversation<'_>,
    blocks: Option<&dyn Blocks>,
    block_len: usize,
    receive: Option<Buffer>,
    circle: Circle,
) -> Result<()> {
    let node = Binomial::new(circle.relative(talk.rank()), circle.size);
    let subtree = node.subtree();
    let parent = node.parent().map(|parent| circle.rank(parent));
    if let (Some(parent), Some(receive), 1) = (parent, &receive, subtree.len()) {
        talk.receive(parent, *receive);
        return Ok(());
    }

    let below = talk.temporary_bytes(subtree.len() * block_len)?;
    let bytes = |first: usize, number: usize| {
        let offset = (first - subtree.start) * block_len;
        below.at(offset as i64).buffer((number * block_len) as i64)
    };
    if let Some(parent) = parent {
        talk.receive(parent, bytes(subtree.start, subtree.len()));
    }
    if let Some(blocks) = blocks {
        for relative in 1..circle.size {
            talk.copy(&blocks.block(circle.rank(relative)), &bytes(relative, 1));
        }
    }
    for child in node.children().rev() {
        let size = Binomial::new(child, circle.size).subtree().len();
        talk.pass_on(circle.rank(child), bytes(child, size));
    }
    match (receive, blocks) {
        (Some(receive), Some(blocks)) => talk.copy(&blocks.block(circle.root), &receive),
        (Some(receive), None) => talk.copy(&bytes(subtree.start, 1), &receive),
        (None, _) => {}
    }
    Ok(())
}
