//! Rendezvous between machines: the receiver reads the data from the sender's memory through the network.
//!
//! ```text
//!   sender                       receiver
//!     ── RTS (address, key) ────▶
//!                                fi_read
//!                                FETCHED, from itself
//!     ◀────── FIN ───────────────
//! ```
//!
//! Both buffers lie in one piece, and the provider has remote reads. Otherwise the message is streamed.

use super::core::Core;
use super::ring_access::Rules;
use super::wire::{self, Rts};
use crate::matching::Key;
use crate::request::{self, InFlight, RequestId};
use heddle_model::counters::{self, CountedEvent};
use heddle_transport::{CopyDirection, Exposed, RemoteCopy};
use std::any::Any;

/// The data of a send while peers may read it. The registration ends before the data.
struct Readable {
    exposed: Exposed,
    _data: Option<Box<dyn Any + Send>>,
}

impl<S: Rules> Core<S> {
    /// Lets the receiver of a send read its data through the network, until the send is complete. Returns the
    /// address and the key, or `None` if the message will be streamed.
    pub(crate) fn expose(&self, in_flight: &mut InFlight) -> Option<(u64, u64)> {
        let (peer, len) = (in_flight.peer, in_flight.buffer.len());
        if self.fabric.is_local(peer) || len <= self.fabric.longest_payload(peer) {
            return None;
        }
        let readable = in_flight.keep.as_ref().and_then(|keep| keep.downcast_ref::<Readable>());
        if let Some(Readable { exposed, .. }) = readable {
            // It was offered before, and there was no room.
            return Some(exposed.name());
        }
        let start = in_flight.buffer.contiguous()?;
        // SAFETY: the buffer belongs to MPI until the send is complete, and `end_send` ends this before.
        let exposed = unsafe { self.fabric.expose((self.index, peer), start, len) }?;
        let name = exposed.name();
        in_flight.keep = Some(Box::new(Readable { exposed, _data: in_flight.keep.take() }));
        Some(name)
    }

    /// Reads the data of a matched message from its sender's memory through the network. Returns false if
    /// that cannot be done; the caller has the receive's in-flight state then.
    pub(crate) fn read_remotely(&self, id: RequestId, key: &Key, peer: usize, rts: &Rts) -> bool {
        // SAFETY: a thread that fetches the data of a receive has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        let Some((remote_key, to)) = rts.key.zip(in_flight.buffer.contiguous()) else { return false };
        let len = in_flight.wanted;
        if len == 0 {
            return false;
        }
        self.note_truncation(id, key, rts);
        let words = wire::to_bytes([u64::from(id), u64::from(rts.request), 0]);
        let done = (wire::control(wire::FETCHED), words);
        let there = (rts.address, remote_key);
        let copy = RemoteCopy { direction: CopyDirection::Read, peer, there, here: to, len, done };
        request::await_peer(id, self.index, peer);
        // SAFETY: this thread does not touch the in-flight state any more, if the data is fetched.
        unsafe { request::hand_over(id) };
        // SAFETY: the buffer belongs to MPI until the receive is complete, which is when the data is there,
        // or the port has dropped the fetch because the peer is lost.
        let copies = unsafe { self.fabric.copy(self.index, copy) };
        // If the receive cannot be claimed, the peer was lost meanwhile, and the receive has ended.
        copies || !request::claim_awaiting(id, self.index, peer)
    }

    /// Completes a receive whose data was read through the network.
    pub(crate) fn fetched(&self, receive: RequestId, sender: RequestId) {
        // SAFETY: the in-flight state of a receive whose data was read belongs to the critical section of
        // arrivals, where this thread is.
        let peer = unsafe { request::in_flight(receive) }.peer;
        counters::count(CountedEvent::RemoteRead, 1);
        self.tell_sender(peer, sender, None);
        self.complete_streamed(receive);
    }
}
