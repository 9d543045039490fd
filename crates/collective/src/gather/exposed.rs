//! Gather of long blocks: the root exposes the memory of the result, and each rank copies its block there,
//! all at the same time.

use crate::blackboard::Source;
use crate::conversation::Conversation;
use crate::data::{Blocks, Part};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// `receive`: where the root wants the first of the blocks, of `block_len` bytes each.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn gather(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    (receive, block_len): (Option<Part<'_>>, usize),
    root: usize,
) -> Result<()> {
    let (own, size) = (talk.rank(), talk.size());
    let whole = size * block_len;
    let Some(receive) = receive else {
        let talk = &mut talk.take_rounds(1);
        let destination = Source { round: 0, rank: root, whole, offset: own * block_len };
        talk.deliver(destination, send.unwrap_or(Buffer::empty()));
        talk.finish_round(0);
        return Ok(());
    };
    let (room, is_elsewhere) = if receive.len() == block_len {
        talk.in_one_piece(&receive.blocks(size))?
    } else {
        // The root expects more, or less: the blocks lie elsewhere than in its room.
        (talk.temporary_bytes(whole)?, true)
    };
    let talk = &mut talk.take_rounds(1);
    talk.expose(0, room.buffer(whole as i64), None);
    if let Some(send) = send {
        talk.copy(&send, &receive.block(own));
    }
    talk.finish_round(0);
    talk.await_finished(0, None);
    if is_elsewhere {
        for rank in talk.others() {
            let block = room.at((rank * block_len) as i64).buffer(block_len as i64);
            talk.copy(&block, &receive.block(rank));
        }
    }
    Ok(())
}
