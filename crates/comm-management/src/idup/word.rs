//! The words that the members of a communicator tell each other for a duplicate.

use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_message::matching::Key;
use heddle_message::request::RequestId;
use heddle_message::vni::SendArgs;
use heddle_p2p::reissue;
use heddle_platform::atomic::AtomicU64;
use std::sync::Arc;

/// Issues the receive of a word from a rank of the communicator, into memory that the request keeps.
pub(super) fn receive(
    domain: &Domain,
    comm: &CommRef,
    id: RequestId,
    word: &AtomicU64,
    (source, tag): (i32, i32),
) {
    // SAFETY: by the caller's care the request keeps the word until the message has arrived.
    let buffer = unsafe { Buffer::bytes(word.as_ptr().cast(), size_of::<u64>()) };
    let key = Key::new(comm.context().id(Plane::Collective), source, tag);
    reissue(domain, comm, comm.vni(), id, buffer, key);
}

/// A word for a rank of the communicator.
pub(super) fn message(comm: &CommRef, to: usize, tag: i32, word: u64) -> SendArgs {
    let Some(peer) = comm.peers.world_rank(to) else { unreachable!("ranks go to the size") };
    let word = Arc::new(AtomicU64::new(word));
    // SAFETY: the send keeps the word until it has been taken.
    let buffer = unsafe { Buffer::bytes(word.as_ptr().cast(), size_of::<u64>()) };
    SendArgs {
        buffer,
        peer,
        context: comm.context().id(Plane::Collective),
        source: comm.rank() as i32,
        tag,
        synchronous: false,
        keep: Some(Box::new(word)),
    }
}
