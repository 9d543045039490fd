//! Checks of the messages of the protocols, before this process follows them. They name
//! requests of this process and offsets in buffers, and they come from a process whose program
//! may have overwritten its memory.
//!
//! A peer that sends garbage ends the job with a message that names it (`Fabric::refuse`). The checks keep
//! this process within its own memory. A wrong message that could have been a right one is not noticed.

use super::core::Core;
use super::ring_access::Rules;
use super::wire::{self, Cts};
use crate::request::{self, InFlight, RequestId, RequestKind, Stage};
use heddle_model::Path;
use heddle_transport::{EXTRA_BYTES, Garbage, Incoming};

impl<S: Rules> Core<S> {
    /// Checks that a message of a protocol has the form of its kind; otherwise ends the job.
    #[inline]
    pub(crate) fn check_form(&self, peer: usize, message: &Incoming) {
        let (kind, len) = (message.header.kind, message.len());
        let right = match kind {
            wire::SYNC | wire::DATA => message.has_extra(),
            // Processes of one machine alone copy from each other's memory.
            wire::STORE => message.has_extra() && self.fabric.is_local(peer),
            wire::FETCH if !self.fabric.is_local(peer) => false,
            // On this machine a stamp has the place of the key.
            wire::RTS if len == wire::EXPOSED_RTS_BYTES => {
                (message.header.aux == wire::STAMPED) == self.fabric.is_local(peer)
            }
            wire::RTS if message.header.aux == wire::STAMPED => false,
            wire::SPREAD..=wire::ASK if !self.fabric.is_local(peer) => false,
            // This process says it to itself.
            wire::FETCHED => peer == self.rank,
            _ => !message.has_extra() && len == EXTRA_BYTES,
        };
        if !right {
            self.fabric.refuse(peer, Garbage::Form { kind, len });
        }
    }

    /// Finds the send of this process that an answer of its receiver names. The send's in-flight
    /// state comes with the answer.
    pub(crate) fn answered_send(&self, peer: usize, kind: u8, number: u64) -> RequestId {
        let waits = |in_flight: &InFlight| match kind {
            wire::FIN => in_flight.offered || in_flight.synchronous,
            // A receiver cannot ask for half of a message that does not lie in one piece.
            wire::PUSH => in_flight.offered && in_flight.buffer.contiguous().is_some(),
            _ => in_flight.offered,
        };
        let waits = |in_flight: &InFlight| !in_flight.being_read && waits(in_flight);
        self.named(peer, kind, number, RequestKind::Send, waits)
    }

    /// Finds the send of this process whose receiver was asked to forget the message. It cannot have
    /// forgotten a message while it fetches the data.
    pub(crate) fn withdrawing_send(&self, peer: usize, number: u64, withdrawn: bool) -> RequestId {
        let active = request::find_active(number, RequestKind::Send);
        let asked = active.filter(|id| {
            // SAFETY: the stage of a send that its receiver was told of is written only in the critical
            // section of arrivals, where this thread is.
            request::peer_of(*id) == peer && unsafe { request::stage(*id) } == Stage::Withdrawing
        });
        // SAFETY: the in-flight state of a send whose message is forgotten belongs to the critical section of
        // arrivals, where this thread is. Only garbage names another send, and then the job ends.
        let possible = asked.filter(|id| !(withdrawn && unsafe { request::in_flight(*id) }.being_read));
        possible.unwrap_or_else(|| self.refuse_operation(peer, wire::WITHDRAWN, number))
    }

    /// Does the same as [`answered_send`](Self::answered_send) for a `CTS`, and checks that the receiver
    /// wants no more than was sent.
    pub(crate) fn check_cts(&self, peer: usize, cts: Cts) -> Cts {
        let id = self.answered_send(peer, wire::CTS, u64::from(cts.sender));
        // SAFETY: the in-flight state of a send whose receiver answers belongs to the critical section of
        // arrivals, where this thread is.
        if cts.wanted > unsafe { request::in_flight(id) }.buffer.len() as u64 {
            self.refuse_operation(peer, wire::CTS, u64::from(cts.sender));
        }
        cts
    }

    /// Finds the receive of this process that a piece of `len` bytes is for, and checks that
    /// it has room for the piece.
    pub(crate) fn receive_of_piece(&self, peer: usize, number: u64, offset: u64, len: usize) -> RequestId {
        self.named(peer, wire::DATA, number, RequestKind::Receive, |in_flight| {
            let room = in_flight.wanted.min(in_flight.buffer.len());
            let fits = |begin: u64| begin.checked_add(len as u64).is_some_and(|end| end <= room as u64);
            in_flight.pieces_wanted && fits(offset) && fits(in_flight.arrived as u64)
        })
    }

    /// Finds the receive of this process whose rear half the peer was asked for.
    pub(crate) fn receive_of_half(&self, peer: usize, number: u64) -> RequestId {
        let id = RequestId::try_from(number).ok();
        let asked =
            id.filter(|id| self.rendezvous(Path::Progress, |rendezvous| rendezvous.awaits_half(*id, peer)));
        asked.unwrap_or_else(|| self.refuse_operation(peer, wire::PUSHED, number))
    }

    fn named(
        &self,
        peer: usize,
        kind: u8,
        number: u64,
        of: RequestKind,
        waits: impl FnOnce(&InFlight) -> bool,
    ) -> RequestId {
        let Some(id) = request::find_active(number, of) else { self.refuse_operation(peer, kind, number) };
        // SAFETY: the in-flight state of an operation that waits for a message of a peer belongs to
        // the critical section of arrivals, where this thread is. Only garbage names another
        // operation, and then the job ends.
        let in_flight = unsafe { request::in_flight(id) };
        if in_flight.peer != peer || !waits(in_flight) {
            self.refuse_operation(peer, kind, number);
        }
        id
    }

    #[cold]
    fn refuse_operation(&self, peer: usize, kind: u8, operation: u64) -> ! {
        self.fabric.refuse(peer, Garbage::Operation { kind, operation })
    }
}

#[cfg(test)]
mod tests;
