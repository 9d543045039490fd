//! All-to-all with many messages in flight at once. Each rank begins with its neighbour, so that the ranks do
//! not all send to the same rank at the same time.

use crate::conversation::Conversation;
use crate::data::Blocks;
use crate::messages::BATCH;

/// Empty blocks are [left out](Conversation::leaves_out), as both sides know their sizes. This rank's block
/// must have been copied.
pub(super) fn alltoall(talk: &mut Conversation<'_>, send: &dyn Blocks, receive: &dyn Blocks) {
    let (rank, size) = (talk.rank(), talk.size());
    let distances: Vec<usize> = (1..size).collect();
    for batch in distances.chunks(BATCH) {
        for &distance in batch {
            let from = (rank + size - distance) % size;
            let incoming = receive.block(from);
            if !talk.leaves_out(&incoming) {
                talk.begin_receive(from, incoming);
            }
        }
        for &distance in batch {
            let to = (rank + distance) % size;
            let outgoing = send.block(to);
            if !talk.leaves_out(&outgoing) {
                talk.begin_send(to, outgoing);
            }
        }
        talk.complete();
    }
}
