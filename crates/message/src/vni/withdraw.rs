//! Cancelling a send: it succeeds if the message was not matched; otherwise the send completes as usual
//! (MPI 5.0, section 3.8.4).
//!
//! A send that waits for room is taken out of the backlog, a self message out of the unexpected messages.
//! A message that its receiver was told of is withdrawn: that of a synchronous send or of a rendezvous.
//! Any other send is complete.
//!
//! ```text
//!   sender                 receiver                        receiver, if it had matched the message
//!     ── RTS or SYNC ─────▶                                ── CTS, PUSH or FIN …
//!     ── WITHDRAW ────────▶ removes the message
//!     ◀──── WITHDRAWN, 1 ──                                ◀──── WITHDRAWN, 0 ──
//! ```
//!
//! The receiver reads the message before the request to withdraw it, because both go through one ring in
//! order. It answers every such request, and the send does not complete before the answer was read. So no
//! request to withdraw can name a later send that has the same slot. An answer that says that the message was
//! matched, and the end of the transfer, are read in different critical sections; the send counts both and
//! completes with the second ([`Stage::Withdrawing`]).

use super::backlog::Queued;
use super::core::Core;
use super::message::{Content, Message};
use super::ring_access::Rules;
use super::wire;
use crate::matching::Key;
use crate::request::{self, Outcome, RequestId, Stage};
use crate::spread::SpreadEvent;
use heddle_model::{Path, SectionOf};
use heddle_objects::request::Missing;
use heddle_transport::Incoming;

impl<S: Rules> Core<S> {
    /// Cancels a send to another process: takes it out of the backlog, or asks its
    /// receiver to forget the message.
    pub(crate) fn cancel_send(&self, id: RequestId) {
        if self.take_from_backlog(id) {
            return self.cancelled(id);
        }
        self.arrivals.with(Path::Main, |_| {
            // SAFETY: only the critical sections of the send's channel and of arrivals write its stage. The
            // channel does not write it any more, and this thread is in that of arrivals.
            if unsafe { request::stage(id) } != Stage::Offered {
                // It is complete, its receiver has answered, or it is withdrawn already.
                return;
            }
            // SAFETY: the in-flight state of a send that its receiver was told of belongs to the critical
            // section of arrivals, where this thread is.
            let in_flight = unsafe { request::in_flight(id) };
            in_flight.stage = Stage::Withdrawing;
            in_flight.missing = Missing::new(2);
            let (peer, key) = (in_flight.peer, Key::new(in_flight.context, in_flight.source, in_flight.tag));
            self.send_control_as(peer, wire::withdrawal(&key), wire::to_bytes([u64::from(id), 0, 0]));
        });
    }

    /// Takes a send that waits for room out of the backlog. Returns false if it does not wait there.
    fn take_from_backlog(&self, id: RequestId) -> bool {
        let to = &self.peers.of(request::peer_of(id));
        to.channel.with(Path::Main, |channel| {
            let waits = |item: &Queued| matches!(item, Queued::Send(send) if *send == id);
            let waited = channel.backlog.remove(waits);
            if waited {
                S::change(&to.backlogged, -1);
                S::change(&self.backlogged, -1);
            }
            waited
        })
    }

    /// Cancels a send to this process, if its message is among the unexpected messages of this VNI.
    pub(crate) fn cancel_send_to_self(&self, id: RequestId) -> bool {
        let key = request::key_of_send(id);
        let taken = self.matching_shard(key.context).with(Path::Main, |shard| {
            shard.withdraw(&key, |message| matches!(message.content, Content::Local(send) if send == id))
        });
        if taken {
            self.cancelled(id);
        }
        taken
    }

    /// Removes the message that a sender wants back, unless it was matched, and tells the sender which.
    pub(crate) fn withdraw(&self, peer: usize, message: &Incoming) {
        let key = Key { context: message.header.context, envelope: message.header.envelope };
        let [sender, ..] = wire::from_bytes(message.payload());
        let taken = self.matching_shard(key.context).with(Path::Progress, |shard| {
            shard.withdraw(&key, |message| message.peer == peer && message.is_from(sender))
        });
        if !taken && self.may_have_moved(key.context) {
            return self.note_spread_event(SpreadEvent::Withdrawn { peer, key, sender });
        }
        self.answer_withdrawal(peer, sender, taken);
    }

    /// Does the same on the home of a message that has come on a lane.
    pub(crate) fn withdraw_at_home(&self, peer: usize, key: &Key, sender: u64) {
        let taken = self.matching_shard(key.context).with(Path::Progress, |shard| {
            shard.withdraw(key, |message| message.peer == peer && message.is_from(sender))
        });
        self.answer_withdrawal(peer, sender, taken);
    }

    fn answer_withdrawal(&self, peer: usize, sender: u64, taken: bool) {
        self.send_control(peer, wire::WITHDRAWN, wire::to_bytes([sender, u64::from(taken), 0]));
    }

    /// Returns true if a message that has come here may be on its home meanwhile.
    fn may_have_moved(&self, context: u64) -> bool {
        self.spreading.home_of(context).is_some_and(|home| home.0 != self.index)
    }

    /// Completes a send that was to be withdrawn, after its receiver has answered: as cancelled, or as usual.
    pub(crate) fn withdrawal_answered(&self, id: RequestId, withdrawn: bool) {
        if withdrawn {
            self.cancelled(id);
        } else {
            self.sender_done(id);
        }
    }

    /// Completes a send whose message will not be received.
    pub(crate) fn cancelled(&self, id: RequestId) {
        self.end_send(id, Outcome { cancelled: true, ..Outcome::empty() });
    }
}

impl Message {
    /// Returns true if the message came from this request of its sender.
    fn is_from(&self, request: u64) -> bool {
        match &self.content {
            Content::Synchronous(_, sender) => u64::from(*sender) == request,
            Content::Rendezvous(rts) => u64::from(rts.request) == request,
            Content::Inline { .. } | Content::Bulk(_) | Content::Local(_) => false,
        }
    }
}
