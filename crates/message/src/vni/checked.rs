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
        self.named(peer, kind, number, RequestKind::Send, waits)
    }

    /// Finds the send of this process whose receiver was asked to forget the message.
    pub(crate) fn withdrawing_send(&self, peer: usize, number: u64) -> RequestId {
        let active = request::find_active(number, RequestKind::Send);
        let asked = active.filter(|id| {
            // SAFETY: the stage of a send that its receiver was told of is written only in the critical
            // section of arrivals, where this thread is.
            request::peer_of(*id) == peer && unsafe { request::stage(*id) } == Stage::Withdrawing
        });
        asked.unwrap_or_else(|| self.refuse_operation(peer, wire::WITHDRAWN, number))
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
            fits(offset) && fits(in_flight.arrived as u64)
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
mod tests {
    use super::*;
    use crate::vni::Vni;
    use crate::vni::tests::ranks::{self, models, ranks};
    use heddle_transport::{Envelope, Fabric, Header, Outbox, Traffic};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const ANSWERS: [u8; 6] = [wire::CTS, wire::DATA, wire::PUSH, wire::PUSHED, wire::FIN, wire::WITHDRAWN];

    /// A larger number than that of any request in these tests.
    const NOBODY: u64 = 1 << 23;

    /// Rank 0, which may write anything, and rank 1.
    struct Ranks {
        liar: Fabric,
        outbox: Outbox,
        reader: Vni,
        _fabric: Fabric,
    }

    impl Ranks {
        fn new(model: &heddle_model::Model) -> Ranks {
            let [(liar, _), (_fabric, reader)] = ranks(model);
            Ranks { outbox: Outbox::new(&liar, 0, 1), liar, reader, _fabric }
        }

        /// Sends a message of a protocol with these words, or with a payload and the words beside it.
        fn send(&mut self, kind: u8, words: &[u64], payload: Option<usize>) {
            let header = Header { kind, aux: 0, context: ranks::CONTEXT, envelope: Envelope::new(0, 5) };
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let sent = match payload {
                // SAFETY: `fill` gets room for the bytes announced.
                None => self.outbox.send_inline(&header, bytes.len(), |to| unsafe {
                    to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                }),
                Some(len) => {
                    let extra = bytes.try_into().expect("three words");
                    let traffic = Traffic::Eager;
                    // SAFETY: `fill` gets room for the bytes announced.
                    self.outbox
                        .send_bulk(traffic, &header, len, &extra, |to| unsafe { to.write_bytes(1, len) })
                }
            };
            assert!(sent, "there is room");
        }

        /// Returns the message with which the reader ends the job when it reads the next message.
        fn refused(&self) -> String {
            let ended = catch_unwind(AssertUnwindSafe(|| self.reader.poll_for_certain()));
            *ended.expect_err("it was followed").downcast::<String>().expect("a message")
        }
    }

    #[test]
    fn messages_of_unknown_kind_or_form_are_refused() {
        for model in models() {
            for (kind, words, payload, says) in [
                (99, vec![0; 3], None, "kind 99"),
                (wire::RTS, vec![0], None, "kind 3 has 8 bytes"),
                (wire::RTS, vec![0; 3], Some(100), "kind 3 has 100 bytes"),
                (wire::CTS, vec![0; 5], None, "kind 4 has 40 bytes"),
                (wire::DATA, vec![0; 3], None, "kind 5 has 24 bytes"),
                (wire::SYNC, vec![0; 1], None, "kind 2 has 8 bytes"),
            ] {
                let mut ranks = Ranks::new(&model);
                ranks.send(kind, &words, payload);
                let text = ranks.refused();
                assert!(text.contains("rank 0 has written") && text.contains(says), "{says}: {text}");
            }
        }
    }

    #[test]
    fn answers_that_nobody_waits_for_are_refused() {
        for model in models() {
            for number in [NOBODY, u64::from(u32::MAX), u64::MAX] {
                for kind in ANSWERS {
                    let mut ranks = Ranks::new(&model);
                    ranks.send(kind, &[number, 0, 0], (kind == wire::DATA).then_some(10));
                    let (text, says) = (ranks.refused(), format!("kind {kind} names operation"));
                    assert!(text.contains(&says), "{says}: {text}");
                }
            }
        }
    }

    #[test]
    fn answers_to_other_operations_than_those_that_wait_are_refused() {
        for model in models() {
            // A receive that is posted, and has no sender yet.
            let mut bytes = [0; 1000];
            for kind in ANSWERS {
                let mut ranks = Ranks::new(&model);
                // SAFETY: the bytes outlive the operation: nothing is written to them
                // after the reader has ended.
                let id = unsafe { ranks::receive(&ranks.reader, 7, &mut bytes) };
                ranks.send(kind, &[u64::from(id), 0, 0], (kind == wire::DATA).then_some(100));
                assert!(ranks.refused().contains("which does not wait for it"));
            }
        }
    }

    #[test]
    fn pieces_and_wishes_beyond_the_buffer_are_refused() {
        const LEN: usize = 100_000;
        for model in models() {
            for (offset, len) in [(LEN as u64, 1), (LEN as u64 - 10, 11), (u64::MAX, 1), (0, 30_000)] {
                let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; LEN]);
                // SAFETY: the bytes outlive the operation.
                let id = unsafe { ranks::receive(&ranks.reader, 5, &mut bytes) };
                // The data does not lie in one piece, so the reader asks for pieces.
                ranks.send(wire::RTS, &[LEN as u64, 0, 17], None);
                assert!(ranks.reader.poll_for_certain());
                let words = [u64::from(id), offset, 0];
                for _ in 0..if offset == 0 { 3 } else { 0 } {
                    ranks.send(wire::DATA, &words, Some(len));
                    assert!(ranks.reader.poll_for_certain(), "so far it has room");
                }
                ranks.send(wire::DATA, &words, Some(len));
                assert!(ranks.refused().contains("kind 5 names operation"));
            }
            let (mut ranks, mut bytes) = (Ranks::new(&model), vec![0; LEN]);
            // SAFETY: the bytes outlive the operation.
            let id = unsafe { ranks::send(&ranks.reader, 0, 1, 5, &mut bytes) }
                .expect("too large to be sent at once");
            ranks.send(wire::CTS, &[u64::from(id), 3, LEN as u64 + 1], None);
            assert!(ranks.refused().contains("kind 4 names operation"));
            assert_eq!(ranks.liar.rank(), 0);
        }
    }
}
