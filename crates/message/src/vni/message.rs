//! A message to be sent, and one that has arrived and waits for its receive.

use super::wire::{self, Rts};
use crate::buffer::Buffer;
use crate::matching::Matching;
use crate::request::{self, RequestId};
use heddle_transport::{Envelope, Header, INLINE_BYTES, LONGEST_PAYLOAD};
use std::any::Any;

/// Data of more bytes is never sent eagerly: the most that a ring takes; the network takes less.
const EAGER_LIMIT: usize = LONGEST_PAYLOAD;

/// The arguments of a send.
#[derive(Debug)]
pub struct SendArgs {
    /// The data.
    pub buffer: Buffer,
    /// World rank of the receiver.
    pub peer: usize,
    /// The context id.
    pub context: u64,
    /// This process's rank in the communicator.
    pub source: i32,
    /// The tag.
    pub tag: i32,
    /// True if the send completes only when it is matched.
    pub synchronous: bool,
    /// Memory to keep until the send completes.
    pub keep: Option<Box<dyn Any + Send>>,
}

impl SendArgs {
    /// Returns true if the data are sent before their receiver answers, where the ring has room.
    #[inline(always)]
    pub(crate) fn is_eager(&self) -> bool {
        !self.synchronous && self.buffer.len() <= EAGER_LIMIT
    }

    #[inline(always)]
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope::new(self.source, self.tag)
    }

    #[inline(always)]
    pub(crate) fn header(&self, kind: u8) -> Header {
        Header { kind, aux: 0, context: self.context, envelope: self.envelope() }
    }
}

/// The header of an ordinary message.
#[inline(always)]
pub fn eager_header(context: u64, source: i32, tag: i32) -> Header {
    Header { kind: wire::EAGER, aux: 0, context, envelope: Envelope::new(source, tag) }
}

/// The number of bytes that an allocation takes in addition to its content.
const ALLOCATION: usize = 16;

/// A message that has arrived and waits for a receive.
#[derive(Debug)]
pub struct Message {
    /// World rank of the sender.
    pub peer: usize,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// At most `INLINE_BYTES` of data.
    Inline { len: u8, data: [u8; INLINE_BYTES] },
    /// More data than that, in an allocation.
    Bulk(Box<[u8]>),
    /// Data of a synchronous send, and the sender's request, which is told of the match.
    Synchronous(Box<[u8]>, RequestId),
    /// The data is still in the sender's memory.
    Rendezvous(Rts),
    /// A self message whose data is still in the send's buffer.
    Local(RequestId),
}

impl Message {
    pub(crate) fn new(peer: usize, content: Content) -> Message {
        Message { peer, content }
    }

    pub(crate) fn copy_of(peer: usize, data: &[u8]) -> Message {
        let content = if data.len() <= INLINE_BYTES {
            let mut small = [0; INLINE_BYTES];
            small[..data.len()].copy_from_slice(data);
            Content::Inline { len: data.len() as u8, data: small }
        } else {
            Content::Bulk(data.into())
        };
        Message { peer, content }
    }

    /// The number of bytes that the message takes as an unexpected one: its node, and the data if that lies
    /// in other memory of the library.
    #[inline(always)]
    pub(crate) fn footprint(&self) -> usize {
        Matching::<Message>::UNEXPECTED_BYTES
            + match &self.content {
                Content::Bulk(data) | Content::Synchronous(data, _) => data.len() + ALLOCATION,
                Content::Inline { .. } | Content::Rendezvous(_) | Content::Local(_) => 0,
            }
    }

    /// The number of bytes of data.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match &self.content {
            Content::Inline { len, .. } => u64::from(*len),
            Content::Bulk(data) | Content::Synchronous(data, _) => data.len() as u64,
            Content::Rendezvous(rts) => rts.len,
            // SAFETY: the in-flight state of a self message that waits is the caller's: it is in the critical
            // section of the matching shard, or has taken the message out.
            Content::Local(send) => unsafe { request::in_flight(*send) }.buffer.len() as u64,
        }
    }
}
