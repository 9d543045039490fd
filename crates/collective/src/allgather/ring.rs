//! Allgather round a ring: n − 1 rounds in which everyone passes on the block that came last. Every block
//! goes straight to its position in the receive buffer.

use crate::conversation::Conversation;
use crate::data::Blocks;

/// This rank's block must be in the receive buffer already.
pub(super) fn allgather(talk: &mut Conversation<'_>, blocks: &dyn Blocks) {
    let (rank, size) = (talk.rank(), talk.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    for round in 1..size {
        let outgoing = blocks.block((rank + size - round + 1) % size);
        let incoming = blocks.block((rank + size - round) % size);
        talk.exchange((next, outgoing), (previous, incoming));
    }
}
