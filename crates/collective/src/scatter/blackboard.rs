//! Scatter on the blackboard: the root publishes all blocks, and each rank copies its own. The root waits for
//! nobody, unless it is far ahead.

use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Blocks, Part};
use heddle_message::buffer::Buffer;

/// `send`: the blocks, at the root; `receive`: where this rank wants its own, of `block_len` bytes.
pub(super) fn scatter(
    talk: &mut Conversation<'_>,
    send: Option<Part<'_>>,
    (receive, block_len): (Option<Buffer>, usize),
    root: usize,
) {
    let (rank, size) = (talk.rank(), talk.size());
    let talk = &mut talk.take_rounds(1);
    if let Some(send) = send {
        talk.publish(0, send.blocks(size), None);
        if let Some(receive) = receive {
            talk.copy(&send.block(rank), &receive);
        }
    } else if let Some(receive) = receive {
        talk.fetch(
            Source { round: 0, rank: root, whole: size * block_len, offset: rank * block_len },
            receive,
        );
    }
    talk.finish_round(0);
}
