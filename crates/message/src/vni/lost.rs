//! The loss of a rank on another machine: its operations end in `MPI_ERR_PROC_ABORTED`, and all others go on.
//!
//! The port says that a rank is lost by a message, behind all that has arrived. The thread that reads it ends
//! the operations that wait for the rank:
//!
//! | operation | found |
//! |---|---|
//! | send that waits for room | in the channel's backlog |
//! | send offered or withdrawn; receive in pieces or by remote read | among all requests (`request/awaiting.rs`) |
//! | send that is streamed | among the streams |
//! | posted receive | in the matching shards, by its communicator's members (`losses.rs`) |
//!
//! **Operations that are issued later.** The port refuses messages to the rank as if there were no room, so
//! they are queued, and the next step of progress drops them. From the first loss on, one more message counts
//! as queued than there are: so each step comes to [`drain_backlogs`](Core::drain_backlogs), which looks for
//! new receives from the rank, too, and no path of a message has to ask for losses.
//!
//! **Other processes.** The reader tells the processes that it knows. A rank that has never heard of the lost
//! one does not miss it, but may wait for it. For the same reason the port begins to watch each rank from
//! which a receive is posted after a loss: its machine may have failed as well.

use super::backlog::Queued;
use super::channel::Channel;
use super::core::{Core, MatchingShard};
use super::rendezvous_state::RendezvousState;
use super::ring_access::Rules;
use super::step::Entry;
use super::wire;
use crate::losses;
use crate::request::{self, Outcome, RequestId, RequestKind};
use heddle_model::{Path, SectionOf};
use heddle_platform::atomic::{Ordering, fence};
use heddle_transport::{Garbage, Incoming, LOST};

impl<S: Rules> Core<S> {
    /// Handles the message that a rank is lost: of the port, or of a peer that has lost it.
    #[cold]
    pub(crate) fn loss_arrives(&self, peer: usize, message: &Incoming) {
        let [rank, ..] = wire::from_bytes(message.payload());
        if peer == self.rank {
            self.lose(rank as usize);
        } else if !self.fabric.hear_of_loss(peer, rank as usize) {
            self.fabric.refuse(peer, Garbage::Operation { kind: LOST, operation: rank });
        }
    }

    /// Ends the operations that wait for a rank. The caller is in the critical section of arrivals.
    #[cold]
    pub(crate) fn lose(&self, rank: usize) {
        // Relaxed, here and below: one thread at a time writes it, and others need only a hint.
        let before = self.losses.load(Ordering::Relaxed);
        self.losses.store(before + 1, Ordering::Relaxed);
        if before == 0 {
            S::change(&self.backlogged, 1);
        }
        // SeqCst: pairs with the fence in `Fabric::is_lost`.
        fence(Ordering::SeqCst);
        self.peers.of(rank).channel.with(Path::Progress, |channel| {
            self.drop_backlog(channel, rank);
            // A thread that offers a send is in this critical section, so it has the send or not.
            for (id, kind) in request::claim_all(self.index, rank) {
                match kind {
                    RequestKind::Receive => self.end_receive_by_loss(id, rank),
                    _ => self.end_send_by_loss(id, rank),
                }
            }
        });
        self.rendezvous(Path::Progress, |rendezvous| self.drop_streams(rendezvous, rank));
        for shard in S::each(&self.matching_shards) {
            shard.with(Path::Progress, |shard| self.end_posted_by_loss(shard, 0, Some(rank)));
        }
        self.tell_of_loss(rank);
        self.wake_sleepers();
    }

    /// Returns true if some rank is lost, as far as this VNI knows.
    #[inline]
    pub(crate) fn has_losses(&self) -> bool {
        self.losses.load(Ordering::Relaxed) != 0
    }

    /// Ends the receives that were posted for lost ranks since the last call.
    #[cold]
    pub(crate) fn end_new_receives(&self, entry: Entry) -> bool {
        let mut happened = false;
        for shard in S::each(&self.matching_shards) {
            let ended = entry.enter(shard, |shard| {
                let since = shard.examined;
                self.end_posted_by_loss(shard, since, None)
            });
            happened |= entry.happened(ended);
        }
        happened
    }

    /// Ends the receives from lost ranks that were posted after the first `since` ones. Returns true if there
    /// were some.
    fn end_posted_by_loss(&self, shard: &mut MatchingShard, since: u64, new: Option<usize>) -> bool {
        let mut happened = false;
        for (place, key, id) in shard.matching.posted_since(since) {
            let comm = request::comm_word(id);
            let lost = losses::lost_sender(&self.fabric, comm, &key, new);
            if lost.is_none()
                && let Some(rank) = losses::sender(comm, &key)
            {
                self.fabric.watch(self.index, rank);
            }
            if let Some(rank) = lost
                && shard.matching.unpost(place, id)
            {
                let error = Some(losses::error(&self.fabric, rank));
                self.complete(
                    id,
                    Outcome { source: key.source(), tag: key.tag(), error, ..Outcome::empty() },
                );
                happened = true;
            }
        }
        shard.examined = shard.matching.posts();
        happened
    }

    /// Drops the queued messages for a lost rank, and ends their sends.
    pub(crate) fn drop_backlog(&self, channel: &mut Channel<S::Inside>, rank: usize) {
        let dropped = channel.backlog.len() as isize;
        for item in channel.backlog.take_all() {
            if let Queued::Send(id) = item {
                self.end_send_by_loss(id, rank);
            }
        }
        S::change(&self.peers.of(rank).backlogged, -dropped);
        S::change(&self.backlogged, -dropped);
    }

    fn drop_streams(&self, rendezvous: &mut RendezvousState, rank: usize) {
        rendezvous.streams.retain(|stream| {
            let stays = stream.peer != rank;
            if !stays && let Some(send) = stream.send {
                // SAFETY: the in-flight state of a send that is streamed belongs to the rendezvous critical
                // section, where this thread is.
                unsafe { request::in_flight(send) }.being_read = false;
                self.end_send_by_loss(send, rank);
            }
            stays
        });
    }

    fn end_send_by_loss(&self, id: RequestId, rank: usize) {
        let error = Some(losses::error(&self.fabric, rank));
        self.end_send(id, Outcome { error, ..Outcome::empty() });
    }

    /// Ends a receive that was matched. The caller has its in-flight state.
    pub(crate) fn end_receive_by_loss(&self, id: RequestId, rank: usize) {
        // SAFETY: the caller has the in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        (in_flight.pieces_wanted, in_flight.keep) = (false, None);
        let (source, tag) = (in_flight.source, in_flight.tag);
        let error = Some(losses::error(&self.fabric, rank));
        self.complete(id, Outcome { source, tag, bytes: 0, cancelled: false, error });
    }

    fn tell_of_loss(&self, rank: usize) {
        if self.fabric.is_news(rank) {
            for other in self.fabric.acquaintances(self.index) {
                self.send_control(other, LOST, wire::to_bytes([rank as u64, 0, 0]));
            }
        }
    }
}
