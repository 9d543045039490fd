//! Scatter where the root sends every rank its block.

use crate::conversation::Conversation;
use crate::data::Blocks;
use crate::messages::BATCH;
use heddle_message::buffer::Buffer;

/// Empty blocks are [left out](Conversation::leaves_out), as both sides know their sizes.
pub(crate) fn scatter(
    talk: &mut Conversation<'_>,
    blocks: Option<&dyn Blocks>,
    receive: Option<Buffer>,
    root: usize,
) {
    let Some(blocks) = blocks else {
        if let Some(receive) = receive.filter(|receive| !talk.leaves_out(receive)) {
            talk.receive(root, receive);
        }
        return;
    };
    let others: Vec<usize> = (0..talk.size()).filter(|&rank| rank != root).collect();
    for batch in others.chunks(BATCH) {
        for &rank in batch {
            let block = blocks.block(rank);
            if !talk.leaves_out(&block) {
                talk.begin_send(rank, block);
            }
        }
        talk.complete();
    }
    if let Some(receive) = receive {
        talk.copy(&blocks.block(root), &receive);
    }
}
