//! All-to-all of large blocks: in round k everyone sends to the rank k ahead and receives from the one
//! k behind, so that each rank has one message in each direction at a time (Thakur, Rabenseifner,
//! Gropp 2005, section 4.4).

use crate::conversation::Conversation;
use crate::data::Blocks;

/// Empty blocks are [left out](Conversation::leaves_out), as both sides know their sizes. This rank's block
/// must have been copied.
pub(super) fn alltoall(talk: &mut Conversation<'_>, send: &dyn Blocks, receive: &dyn Blocks) {
    let (rank, size) = (talk.rank(), talk.size());
    for distance in 1..size {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let (outgoing, incoming) = (send.block(to), receive.block(from));
        match (talk.leaves_out(&outgoing), talk.leaves_out(&incoming)) {
            (false, false) => talk.exchange((to, outgoing), (from, incoming)),
            (false, true) => talk.send(to, outgoing),
            (true, false) => talk.receive(from, incoming),
            (true, true) => {}
        }
    }
}
