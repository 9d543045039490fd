//! Broadcast on the blackboard: the root publishes, and the others copy. The root waits for nobody, unless it
//! is far ahead.

use crate::blackboard::Source;
use crate::conversation::Conversation;
use heddle_message::buffer::Buffer;

pub(super) fn bcast(talk: &mut Conversation<'_>, data: Buffer, root: usize) {
    talk.take_rounds(1);
    if talk.rank() == root {
        talk.publish(0, data, None);
    } else {
        talk.fetch(Source { round: 0, rank: root, whole: data.len(), offset: 0 }, data);
    }
    talk.finish_round(0);
}
