//! What is sent to one peer: the ring, and what waits for room in it.

use super::way::Rules;
use crate::request::RequestId;
use heddle_model::Object;
use heddle_model::counters::Section;
use heddle_platform::atomic::AtomicUsize;
use heddle_transport::{EXTRA_BYTES, Header};
use std::collections::VecDeque;

/// What is sent to one peer.
#[derive(Debug)]
pub(crate) struct Peer<S: Rules> {
    pub channel: S::Section<Channel<S::Inside>>,
    /// The ring, where that is not in the channel's section.
    pub outside: S::Outside,
    /// How much waits for room in the ring: written in the channel's section.
    pub backlogged: AtomicUsize,
}

/// What waits for room in a ring.
#[derive(Debug)]
pub(crate) enum Queued {
    /// A send that has not begun.
    Send(RequestId),
    /// A message of the protocol.
    Control(Header, [u8; EXTRA_BYTES]),
}

/// What waits for room in the ring to a peer, and the ring itself unless that is outside of the section (`way.rs`). Messages
/// leave in the order in which they come here.
#[derive(Debug)]
pub(crate) struct Channel<R> {
    pub ring: R,
    pub backlog: VecDeque<Queued>,
}

impl<R: Send + 'static> Object for Channel<R> {
    const SECTION: Section = Section::Channel;
    const LEVEL: u32 = 3;
}

impl<R> Channel<R> {
    pub(crate) fn new(ring: R) -> Channel<R> {
        Channel { ring, backlog: VecDeque::new() }
    }
}
