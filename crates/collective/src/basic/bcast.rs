//! Broadcast down a binomial tree: ⌈log₂ n⌉ rounds of the whole message.

use crate::conversation::Conversation;
use crate::ranks::{Binomial, Circle};
use heddle_message::buffer::Buffer;

pub(crate) fn bcast(talk: &mut Conversation<'_>, data: &Buffer, circle: Circle) {
    let node = Binomial::new(circle.relative(talk.rank()), circle.size);
    if let Some(parent) = node.parent() {
        talk.receive(circle.rank(parent), *data);
    }
    // The largest subtree first: its path is the longest.
    for child in node.children().rev() {
        talk.pass_on(circle.rank(child), *data);
    }
}
