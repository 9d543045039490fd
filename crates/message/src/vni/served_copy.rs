//! Copies from and to the memory of a peer on this machine, which the peer makes itself: the slow way behind
//! the kernel's single copies, for the one operation whose memory the kernel has refused to copy. Any thread
//! of the peer that makes progress on the VNI serves them.
//!
//! ```text
//!   requester                      owner of the memory
//!     ── FETCH (address) ─────────▶
//!     ◀──────────── DATA … DATA ───
//!
//!     ── STORE (address) … STORE ─▶
//!     ◀───────────────────── FIN ──
//! ```
//!
//! The pieces travel through the ring, so no memory of either side is touched by the other.

use super::core::Core;
use super::interface::{Vni, VniState, apart};
use super::ring_access::Rules;
use super::under_way::{Sink, Stream};
use super::wire::{self, Words};
use crate::buffer::Buffer;
use crate::request::{self, RequestId, Stage};
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, Whole};
use heddle_platform::clock;
use heddle_transport::{CopyDirection, Garbage, Incoming};
use std::ptr::with_exposed_provenance_mut;

/// A copy between a buffer of this process and memory of a peer.
#[derive(Debug, Clone, Copy)]
pub struct ServedCopy {
    /// Which of them is read, and which is written.
    pub direction: CopyDirection,
    /// The world rank of the peer, which runs on this machine.
    pub peer: usize,
    /// Where its memory begins, in its own address space. It has as many bytes as the buffer.
    pub address: u64,
    /// The buffer.
    pub buffer: Buffer,
}

impl Vni {
    pub(crate) fn begin_served_copy(&self, id: RequestId, copy: ServedCopy) {
        run!(self, Main, core => core.begin_served_copy(id, copy));
    }
}

impl<S: Rules> Core<S> {
    fn begin_served_copy(&self, id: RequestId, copy: ServedCopy) {
        let ServedCopy { direction, peer, address, buffer } = copy;
        let wanted = buffer.len();
        // SAFETY: the request is not issued yet, so this thread has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        (in_flight.peer, in_flight.stage) = (peer, Stage::UnderWay);
        counters::count(CountedEvent::ServedCopy, 1);
        match direction {
            CopyDirection::Read => {
                (in_flight.source, in_flight.tag) = (0, 0);
                (in_flight.arrived, in_flight.wanted, in_flight.method) = (0, wanted, None);
                (in_flight.pieces_wanted, in_flight.asked_ns) = (true, clock::now_ns());
                // SAFETY: the in-flight state belongs to the thread that reads the pieces from now on.
                unsafe { request::hand_over(id) };
                self.send_control(peer, wire::FETCH, wire::to_bytes([address, wanted as u64, u64::from(id)]));
            }
            CopyDirection::Write => {
                // The peer's answer ends the send, as if it had fetched data that it was offered.
                (in_flight.offered, in_flight.being_read) = (true, true);
                self.count_offer(id, 1);
                let sink = Sink::Memory(address);
                self.begin_stream(Stream { buffer, send: Some(id), sink, peer, sent: 0, wanted });
            }
        }
    }

    /// Sends memory of this process to the peer that asks for it.
    pub(crate) fn serve_fetch(&self, peer: usize, [address, len, receive]: Words) {
        let receive = self.in_memory(peer, wire::FETCH, address, len, receive);
        // SAFETY: the peer waits for the data, so the operation in which this process has told it the address
        // is not over. It could as well read the memory by the kernel.
        let buffer = unsafe { Buffer::bytes(with_exposed_provenance_mut(address as usize), len as usize) };
        let sink = Sink::Receive(receive);
        self.begin_stream(Stream { buffer, send: None, sink, peer, sent: 0, wanted: len as usize });
    }

    /// Stores a piece of a peer's data in memory of this process.
    pub(crate) fn serve_store(&self, peer: usize, message: &Incoming) {
        let [address, send, is_last] = wire::from_bytes(&message.extra());
        let send = self.in_memory(peer, wire::STORE, address, message.len() as u64, send);
        // SAFETY: the same as in `serve_fetch`, for writing.
        let buffer = unsafe { Buffer::bytes(with_exposed_provenance_mut(address as usize), message.len()) };
        buffer.write(0, message.payload());
        if is_last != 0 {
            self.tell_sender(peer, send, None);
        }
    }

    /// Checks that bytes can be in this process's memory, and that an operation can have this number.
    fn in_memory(&self, peer: usize, kind: u8, address: u64, len: u64, operation: u64) -> RequestId {
        let end = address.checked_add(len).filter(|end| *end <= isize::MAX as u64);
        match RequestId::try_from(operation) {
            Ok(id) if address != 0 && end.is_some() => id,
            _ => self.fabric.refuse(peer, Garbage::Operation { kind, operation }),
        }
    }
}

impl Stream {
    /// The kind of the next piece, of `len` bytes, and the words that go with it.
    pub(super) fn piece(&self, len: usize) -> (u8, Words) {
        match self.sink {
            Sink::Receive(receive) => (wire::DATA, [u64::from(receive), self.sent as u64, 0]),
            Sink::Memory(address) => {
                let is_last = self.sent + len == self.wanted;
                let send = self.send.map_or(u64::MAX, u64::from);
                (wire::STORE, [address + self.sent as u64, send, u64::from(is_last)])
            }
        }
    }
}
