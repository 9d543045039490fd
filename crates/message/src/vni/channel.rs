//! The channel to one peer: its ring, and the queue of messages that wait for room in the ring.

use super::ring_access::Rules;
use crate::request::RequestId;
use heddle_model::GuardedObject;
use heddle_model::counters::Section;
use heddle_platform::atomic::AtomicUsize;
use heddle_transport::{EXTRA_BYTES, Header};
use std::collections::VecDeque;

/// The sending side of one peer.
#[derive(Debug)]
pub(crate) struct Peer<S: Rules> {
    pub channel: S::Section<Channel<S::Inside>>,
    /// The ring, if it is not in the channel's critical section.
    pub outside: S::Outside,
    /// The number of queued messages; written in the channel's critical section.
    pub backlogged: AtomicUsize,
}

/// A message that waits for room in a ring.
#[derive(Debug)]
pub(crate) enum Queued {
    /// A send that has not begun.
    Send(RequestId),
    /// A message of the protocol.
    Control(Header, [u8; EXTRA_BYTES]),
}

/// The queue of messages that wait for room, first in, first out, and the ring unless it is
/// outside (`ring_access.rs`).
#[derive(Debug)]
pub(crate) struct Channel<R> {
    pub ring: R,
    pub backlog: VecDeque<Queued>,
}

impl<R: Send + 'static> GuardedObject for Channel<R> {
    const SECTION: Section = Section::Channel;
    const LEVEL: u32 = 3;
}

impl<R> Channel<R> {
    pub(crate) fn new(ring: R) -> Channel<R> {
        Channel { ring, backlog: VecDeque::new() }
    }
}
