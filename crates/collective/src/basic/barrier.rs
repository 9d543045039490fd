//! Barrier by dissemination: ⌈log₂ n⌉ rounds; in round k a process tells the one 2^k ahead and hears from the
//! one 2^k behind (Hensgen, Finkel, Manber, 1988).

use crate::conversation::Conversation;
use heddle_message::buffer::Buffer;

pub(crate) fn barrier(talk: &mut Conversation<'_>) {
    let (rank, size) = (talk.rank(), talk.size());
    let mut distance = 1;
    while distance < size {
        let to = (rank + distance) % size;
        let from = (rank + size - distance) % size;
        talk.exchange((to, Buffer::empty()), (from, Buffer::empty()));
        distance *= 2;
    }
}
