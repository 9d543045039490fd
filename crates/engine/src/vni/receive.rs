//! From the wire, or from the unexpected set, to a receive.

use super::Core;
use super::halves::Half;
use super::wire::{self, Cts, Rts};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::matching::Key;
use crate::request::{self, Outcome, RequestId, Stage};
use heddle_spec::constants as mpi;
use heddle_transport::{INLINE_BYTES, Incoming};

/// A message that has arrived and waits for a receive.
#[derive(Debug)]
pub(crate) struct Message {
    /// World rank of the sender.
    peer: usize,
    content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Small {
        len: u8,
        data: [u8; INLINE_BYTES],
    },
    Large(Box<[u8]>),
    /// With the sender's request, which wants to know of the match.
    Synchronous(Box<[u8]>, RequestId),
    /// The data is still with the sender.
    Rendezvous(Rts),
    /// A send of this process to itself whose data is still in its buffer.
    Local(RequestId),
}

impl Message {
    pub(super) fn new(peer: usize, content: Content) -> Message {
        Message { peer, content }
    }

    pub(super) fn copy_of(peer: usize, data: &[u8]) -> Message {
        let content = if data.len() <= INLINE_BYTES {
            let mut small = [0; INLINE_BYTES];
            small[..data.len()].copy_from_slice(data);
            Content::Small { len: data.len() as u8, data: small }
        } else {
            Content::Large(data.into())
        };
        Message { peer, content }
    }

    /// Bytes of data.
    pub(crate) fn len(&self) -> u64 {
        match &self.content {
            Content::Small { len, .. } => u64::from(*len),
            Content::Large(data) | Content::Synchronous(data, _) => data.len() as u64,
            Content::Rendezvous(rts) => rts.len,
            // SAFETY: a send that waits in the unexpected set is active on this VNI, whose section we are in.
            Content::Local(send) => unsafe { request::flight(*send) }.buffer.len() as u64,
        }
    }
}

impl Core {
    /// A message has arrived.
    #[inline]
    pub(super) fn arrive(&mut self, peer: usize, message: &Incoming) {
        let header = &message.header;
        let key = Key { context: header.context, envelope: header.envelope };
        match header.kind {
            wire::EAGER => match self.matching.match_arrival(&key) {
                Some(id) => self.deliver(id, &key, message.payload()),
                None => self.matching.store(key, Message::copy_of(peer, message.payload())),
            },
            wire::SYNC => {
                let [sender, ..] = wire::from_bytes(&message.extra());
                match self.matching.match_arrival(&key) {
                    Some(id) => {
                        self.deliver(id, &key, message.payload());
                        self.tell_sender(peer, sender as u32);
                    }
                    None => {
                        let content = Content::Synchronous(message.payload().into(), sender as u32);
                        self.matching.store(key, Message { peer, content });
                    }
                }
            }
            wire::RTS => {
                let rts = Rts::from_bytes(message.payload());
                match self.matching.match_arrival(&key) {
                    Some(id) => self.fetch(id, &key, peer, rts),
                    None => self.matching.store(key, Message { peer, content: Content::Rendezvous(rts) }),
                }
            }
            wire::CTS => self.clear_to_send(Cts::from_bytes(message.payload())),
            wire::DATA => self.piece_arrived(message),
            wire::PUSH => self.push_wanted(wire::Push::from_bytes(message.payload())),
            wire::PUSHED => {
                let [receive, well, _] = wire::from_bytes(message.payload());
                self.half_is_over(receive as RequestId, Half::Rear, well != 0);
            }
            wire::FIN => {
                let [sender, ..] = wire::from_bytes(message.payload());
                self.sender_done(sender as u32);
            }
            other => unreachable!(
                "message kind {other} from rank {peer}: the ranks run different versions of Heddle"
            ),
        }
    }

    /// Receives: takes the message if it is here already, otherwise posts the receive.
    #[inline(always)]
    pub(crate) fn receive(&mut self, id: RequestId, key: Key) {
        if self.matching.has_unexpected() && self.receive_unexpected(id, &key) {
            return;
        }
        let place = self.matching.post(key, id);
        // SAFETY: the request is active on this VNI, whose section we are in.
        unsafe { request::flight(id) }.stage = Stage::Posted(place);
    }

    fn receive_unexpected(&mut self, id: RequestId, key: &Key) -> bool {
        match self.matching.take(key) {
            Some((exact, message)) => {
                self.accept(id, &exact, message);
                true
            }
            None => false,
        }
    }

    /// Receives a message that was taken out of matching before.
    pub(crate) fn receive_matched(&mut self, id: RequestId, buffer: Buffer, key: &Key, message: Message) {
        // SAFETY: the request was just taken and is not issued yet.
        let flight = unsafe { request::flight(id) };
        flight.buffer = buffer;
        flight.stage = Stage::UnderWay;
        self.accept(id, key, message);
    }

    /// Gives a message of the unexpected set to a receive.
    pub(crate) fn accept(&mut self, id: RequestId, key: &Key, message: Message) {
        match message.content {
            Content::Small { len, data } => self.deliver(id, key, &data[..usize::from(len)]),
            Content::Large(data) => self.deliver(id, key, &data),
            Content::Synchronous(data, sender) => {
                self.deliver(id, key, &data);
                self.tell_sender(message.peer, sender);
            }
            Content::Rendezvous(rts) => self.fetch(id, key, message.peer, rts),
            Content::Local(send) => self.deliver_local(send, id, key),
        }
    }

    /// Copies the data to the receive's buffer and completes it.
    #[inline(always)]
    pub(super) fn deliver(&mut self, id: RequestId, key: &Key, data: &[u8]) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        let room = flight.buffer.len();
        if data.len() <= room {
            flight.buffer.write(0, data);
            self.complete_receive(id, key, data.len() as u64, None);
        } else {
            flight.buffer.write(0, &data[..room]);
            self.complete_receive(id, key, room as u64, Some(truncated(key, data.len() as u64, room)));
        }
    }

    #[inline(always)]
    pub(super) fn complete_receive(&mut self, id: RequestId, key: &Key, bytes: u64, error: Option<Error>) {
        let (source, tag) = (key.source(), key.tag());
        if error.is_some() {
            return self.complete(id, Outcome { source, tag, bytes, cancelled: false, error });
        }
        // SAFETY: an active request of this VNI, whose section we are in.
        unsafe { request::complete_received(id, source, tag, bytes) };
        self.wake_sleepers();
    }

    /// Tells the sender that the receiver has everything, or has matched its synchronous message.
    pub(super) fn tell_sender(&mut self, peer: usize, sender: RequestId) {
        if peer == self.rank {
            self.sender_done(sender);
        } else {
            self.send_control(peer, wire::FIN, wire::to_bytes([u64::from(sender), 0, 0]));
        }
    }
}

/// The error of a receive whose buffer is too small.
#[cold]
pub(super) fn truncated(key: &Key, len: u64, room: usize) -> Error {
    let message = format!(
        "the message from rank {} with tag {} has {len} bytes but the receive buffer only {room}: the rest is lost",
        key.source(),
        key.tag()
    );
    Error::new(mpi::MPI_ERR_TRUNCATE, message)
}
