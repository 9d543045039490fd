//! Gather where every rank sends its block straight to the root.

use crate::conversation::Conversation;
use crate::data::Blocks;
use crate::messages::BATCH;
use heddle_message::buffer::Buffer;

/// Empty blocks are [left out](Conversation::leaves_out), as both sides know their sizes.
pub(super) fn gather(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) {
    let Some(blocks) = blocks else {
        if let Some(send) = send.filter(|send| !talk.leaves_out(send)) {
            talk.send(root, send);
        }
        return;
    };
    if let Some(send) = send {
        talk.copy(&send, &blocks.block(root));
    }
    let others: Vec<usize> = (0..talk.size()).filter(|&rank| rank != root).collect();
    for batch in others.chunks(BATCH) {
        for &rank in batch {
            let block = blocks.block(rank);
            if !talk.leaves_out(&block) {
                talk.begin_receive(rank, block);
            }
        }
        talk.complete();
    }
}
