//! Rendezvous: the data of a large message moves only once its receive is known.
//!
//! **Single copy.** If both buffers lie in one piece and the kernel permits it, the receiver copies straight
//! from the sender's memory and sends `FIN`. The copy is made outside of all critical sections, so that other
//! threads can enter them during the copy.
//!
//! ```text
//!   sender                receiver
//!     ── RTS (address) ──▶
//!                          process_vm_readv
//!     ◀────── FIN ────────
//! ```
//!
//! **Split copy** (`split_copy.rs`) is used if it was measured to be quicker and the sender waits in MPI,
//! so that it can copy, too.
//!
//! If the kernel refuses a copy, the message is streamed.
//!
//! **Remote read** (`remote_read.rs`) is used between machines.
//!
//! **Streaming** is used otherwise, or if it was measured to be quicker (`method_choice.rs`) and the sender
//! waits in MPI: the sender packs piece by piece into the ring, the receiver unpacks piece by piece.
//!
//! ```text
//!     ── RTS ────────────▶
//!     ◀────── CTS (room) ─
//!     ── DATA … DATA ────▶
//! ```

use super::core::Core;
use super::receive::truncated;
use super::rendezvous_state::RendezvousState;
use super::ring_access::Rules;
use super::split_copy;
use super::under_way::{Half, HalfEnd, Nanoseconds, Pull, Sink, Stream};
use super::wire::{self, Cts, Rts};
use crate::matching::Key;
use crate::request::{self, Outcome, RequestId};
use crate::transfer_method::TransferMethod;
use heddle_model::Path;
use heddle_platform::atomic::Ordering;
use heddle_platform::clock;
use heddle_transport::{Incoming, LONGEST_PAYLOAD};
use std::io;

/// The bytes of one piece of a streamed message: the most that a ring takes.
const PIECE: usize = LONGEST_PAYLOAD;

/// The receiver of a message of this many bytes or more waits for the sender to enter MPI …
const WORTH_WAITING: usize = 256 << 10;
/// … 1 ns for each `BYTES_A_NANOSECOND` bytes, a few hundredths of the time that a single copy takes. The
/// sender of a window of messages issues all of them before it waits for the first.
const BYTES_A_NANOSECOND: u64 = 128;
/// The longest time that the receiver waits for the sender.
const LONGEST_WAIT: Nanoseconds = 50_000;

/// Returns true if data of `bytes` bytes fits into one piece, so that a sender offers it only to a receiver
/// that throttles its senders. Such data is pulled, or sent in one piece, and is not measured for the
/// choice of a transfer method.
fn is_small(bytes: usize) -> bool {
    bytes <= PIECE
}

impl<S: Rules> Core<S> {
    /// Fetches the data of a rendezvous message that matches a receive.
    pub(crate) fn fetch(&self, id: RequestId, key: &Key, peer: usize, rts: Rts) {
        // SAFETY: a thread that matches a receive has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        let wanted = in_flight.buffer.len().min(rts.len as usize);
        in_flight.peer = peer;
        in_flight.source = key.source();
        in_flight.tag = key.tag();
        in_flight.arrived = 0;
        in_flight.method = None;
        in_flight.wanted = wanted;
        let partner = if rts.address != 0 { self.fabric.copy_partner(peer) } else { None };
        match in_flight.buffer.contiguous().zip(partner) {
            Some((local, pid)) => {
                let deadline = |bytes: u64| clock::now_ns() + (bytes / BYTES_A_NANOSECOND).min(LONGEST_WAIT);
                let wait_until_ns = if wanted >= WORTH_WAITING { deadline(wanted as u64) } else { 0 };
                let pull = Pull {
                    receive: id,
                    key: *key,
                    peer,
                    pid,
                    rts,
                    local,
                    len: wanted,
                    wait_until_ns,
                    share: wanted,
                };
                self.rendezvous(Path::Main, move |rendezvous| rendezvous.pulls.push_back(pull));
                // This thread may leave MPI before it makes the copy; a sleeping thread can make it, too.
                self.wake_sleepers();
            }
            None if self.read_remotely(id, key, peer, &rts) => {}
            None => self.ask_for_pieces(id, key, peer, rts),
        }
    }

    /// Keeps the error for the end of a receive that has no room for its message.
    pub(crate) fn note_truncation(&self, id: RequestId, key: &Key, rts: &Rts) {
        // SAFETY: a thread that fetches the data of a receive has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        let wanted = in_flight.wanted;
        in_flight.keep = (rts.len as usize > wanted)
            .then(|| Box::new(truncated(key, rts.len, wanted)) as Box<dyn std::any::Any + Send>);
    }

    /// Returns the next message to pull now. If its sender waits in MPI, the message may be streamed instead.
    pub(crate) fn next_pull(&self, rendezvous: &mut RendezvousState) -> Option<Pull> {
        let mut pull = rendezvous.pulls.pop_front()?;
        let attended = self.fabric.attendance(pull.peer, self.index).load(Ordering::Relaxed) != 0;
        if !attended && pull.wait_until_ns != 0 && clock::now_ns() < pull.wait_until_ns {
            rendezvous.pulls.push_front(pull);
            return None;
        }
        let chosen = (attended && !is_small(pull.rts.len as usize))
            .then(|| rendezvous.method_choice(pull.peer, pull.len).choose(pull.len));
        let method = match chosen {
            Some(TransferMethod::SplitCopy) if !split_copy::is_possible() => Some(TransferMethod::Pull),
            chosen => chosen,
        };
        // SAFETY: a thread that takes a pull has the in-flight state of its receive.
        unsafe { request::in_flight(pull.receive) }.method = method;
        match method.unwrap_or(TransferMethod::Pull) {
            TransferMethod::Pull => return Some(pull),
            // A truncated message needs an error, which the other methods report.
            TransferMethod::SplitCopy if pull.len as u64 == pull.rts.len => {
                pull.share = self.ask_for_half(rendezvous, &pull);
                return Some(pull);
            }
            TransferMethod::SplitCopy | TransferMethod::Stream | TransferMethod::StreamPastCaches => {}
        }
        self.ask_for_pieces(pull.receive, &pull.key, pull.peer, pull.rts);
        None
    }

    /// Asks the sender for the data in pieces. From then on the in-flight state belongs to the critical
    /// section of arrivals, where the pieces are read.
    pub(crate) fn ask_for_pieces(&self, id: RequestId, key: &Key, peer: usize, rts: Rts) {
        // SAFETY: a thread that fetches the data of a receive has its in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        let wanted = in_flight.wanted;
        in_flight.pieces_wanted = true;
        in_flight.asked_ns = clock::now_ns();
        // Any other method has failed, or cannot report an error.
        in_flight.method = in_flight.method.filter(|method| method.streams());
        let header = wire::answer(wire::CTS, in_flight.method);
        self.note_truncation(id, key, &rts);
        let cts = Cts { sender: rts.request, receiver: id, wanted: wanted as u64 };
        if wanted != 0 {
            request::await_peer(id, self.index, peer);
        }
        // SAFETY: this thread does not touch the in-flight state any more, unless no piece will come.
        unsafe { request::hand_over(id) };
        if wanted != 0 && self.fabric.is_lost(peer) {
            if request::claim_awaiting(id, self.index, peer) {
                self.end_receive_by_loss(id, peer);
            }
            return;
        }
        self.send_control_as(peer, header, cts.to_bytes());
        if wanted == 0 {
            // No piece will come.
            self.complete_streamed(id);
        }
    }

    /// Completes a receive whose single copy was made; or asks for pieces if the kernel refused the copy.
    pub(crate) fn finish_pull(&self, pull: Pull, result: io::Result<Nanoseconds>) {
        let Pull { receive, key, peer, rts, len, share, .. } = pull;
        if let Err(error) = &result {
            self.fabric.note_refusal(peer, error);
        }
        if share < len {
            return self.half_is_over(receive, Half::Front, HalfEnd::of(&result));
        }
        match result {
            Ok(_) if is_small(rts.len as usize) => {}
            Ok(took) => self.rendezvous(Path::Progress, |rendezvous| {
                rendezvous.method_choice(peer, len).pulled(len, took)
            }),
            Err(_) => return self.ask_for_pieces(receive, &key, peer, rts),
        }
        // SAFETY: a thread that takes a pull has the in-flight state of its receive.
        let method = unsafe { request::in_flight(receive) }.method;
        self.tell_sender(peer, rts.request, method);
        self.row.completed_something();
        let error = (rts.len as usize > len).then(|| truncated(&key, rts.len, len));
        self.complete_receive(receive, &key, len as u64, error);
    }

    /// Notes the method by which the receiver of a send fetches it. Messages that both processes send each
    /// other at the same time go the same way, since while one copies from the other's memory it sends no
    /// pieces: the process with the lower rank chooses for both.
    pub(crate) fn note_choice(&self, peer: usize, send: RequestId, method: Option<TransferMethod>) {
        let Some(method) = method.filter(|_| self.fabric.rank() > peer) else { return };
        // SAFETY: the in-flight state of a send whose receiver answers belongs to the critical section of
        // arrivals, where this thread is.
        let len = unsafe { request::in_flight(send) }.buffer.len();
        self.rendezvous(Path::Progress, |rendezvous| rendezvous.method_choice(peer, len).follow(method));
    }

    /// Starts to send the data of a message in pieces, because its receiver wants it so.
    pub(crate) fn clear_to_send(&self, cts: Cts) {
        // SAFETY: the in-flight state of a send whose receiver answers belongs to the critical section of
        // arrivals, where this thread is.
        let in_flight = unsafe { request::in_flight(cts.sender) };
        in_flight.answered();
        request::await_nobody(cts.sender);
        let peer = in_flight.peer;
        let wanted = cts.wanted as usize;
        if wanted == 0 {
            return self.sender_done(cts.sender);
        }
        in_flight.being_read = true;
        let (send, sink) = (Some(cts.sender), Sink::Receive(cts.receiver));
        self.begin_stream(Stream { buffer: in_flight.buffer, send, sink, peer, sent: 0, wanted });
    }

    /// Sends data in pieces, from now on.
    pub(crate) fn begin_stream(&self, stream: Stream) {
        // The stream is known before the thread finds that there is no room, since a thread that is woken by
        // new room must know of it.
        self.rendezvous(Path::Progress, |rendezvous| rendezvous.streams.push(stream));
        self.rendezvous(Path::Progress, |rendezvous| self.pump_streams(rendezvous));
    }

    /// Sends pieces while there is room. Returns true if it sent any.
    pub(crate) fn pump_streams(&self, rendezvous: &mut RendezvousState) -> bool {
        let mut happened = false;
        rendezvous.streams.retain_mut(|stream| {
            let longest = self.fabric.longest_payload(stream.peer);
            while stream.sent < stream.wanted {
                let len = longest.min(stream.wanted - stream.sent);
                let (kind, words) = stream.piece(len);
                let fill = |to, stores| stream.buffer.read_piece(stream.sent, (to, stores), len);
                if !self.send_piece(stream.peer, kind, &wire::to_bytes(words), len, fill) {
                    return true;
                }
                stream.sent += len;
                happened = true;
            }
            self.end_stream(stream);
            false
        });
        happened
    }

    fn end_stream(&self, stream: &Stream) {
        let Some(send) = stream.send else { return };
        // SAFETY: the in-flight state of a send that is streamed belongs to the rendezvous critical
        // section, where this thread is.
        unsafe { request::in_flight(send) }.being_read = false;
        match stream.sink {
            Sink::Receive(_) => self.sender_done(send),
            // SAFETY: this process does nothing more with the send before the peer's answer, which is read in
            // the critical section of arrivals.
            Sink::Memory(_) => unsafe { request::hand_over(send) },
        }
    }

    /// Stores a piece that has arrived.
    pub(crate) fn piece_arrived(&self, peer: usize, message: &Incoming) {
        let [receive, offset, _] = wire::from_bytes(&message.extra());
        let id = self.receive_of_piece(peer, receive, offset, message.len());
        // SAFETY: the in-flight state of a receive that waits for pieces belongs to the critical section of
        // arrivals, where this thread is, until the last piece was read.
        let in_flight = unsafe { request::in_flight(id) };
        let method = in_flight.method.unwrap_or(TransferMethod::Stream);
        let past_caches = method == TransferMethod::StreamPastCaches;
        in_flight.buffer.write_piece(offset as usize, message.payload(), past_caches);
        in_flight.arrived += message.len();
        if in_flight.arrived < in_flight.wanted {
            return;
        }
        let (peer, wanted, asked_ns) = (in_flight.peer, in_flight.wanted, in_flight.asked_ns);
        if is_small(wanted) {
            return self.complete_streamed(id);
        }
        self.rendezvous(Path::Progress, |rendezvous| {
            rendezvous.method_choice(peer, wanted).sent_jointly(method, wanted, asked_ns, clock::now_ns());
        });
        self.complete_streamed(id);
    }

    pub(crate) fn complete_streamed(&self, id: RequestId) {
        // SAFETY: the caller has the in-flight state.
        let in_flight = unsafe { request::in_flight(id) };
        in_flight.pieces_wanted = false;
        request::await_nobody(id);
        let error = in_flight.keep.take().and_then(|kept| kept.downcast().ok()).map(|error| *error);
        let (source, tag, bytes) = (in_flight.source, in_flight.tag, in_flight.wanted as u64);
        self.complete(id, Outcome { source, tag, bytes, cancelled: false, error });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vni::interface::{VniState, apart};
    use crate::vni::tests::ranks::{self, models, ranks};
    use heddle_model::{Model, Whole};

    const MESSAGES: usize = 20;

    /// Lets rank 0 send large messages to rank 1, and wait for them in MPI or not. A receiver that polls in
    /// vain would sleep, so no poll may be in vain while messages are to be pulled.
    fn no_thread_sleeps_while_there_are_pulls(model: &Model, sender_waits: bool) {
        let [(sender_fabric, sender), (_, receiver)] = ranks(model);
        let len = 2 * WORTH_WAITING;
        let mut from = vec![0u8; len];
        from.iter_mut().zip(0u8..=255).for_each(|(byte, value)| *byte = value);
        let mut to = vec![vec![0u8; len]; MESSAGES];
        let attendance = sender_fabric.attendance(0, 0);
        attendance.store(u32::from(sender_waits), Ordering::Relaxed);
        let sends: Vec<RequestId> = (0..MESSAGES)
            // SAFETY: the bytes outlive the operation, which ends in this function.
            .filter_map(|_| unsafe { ranks::send(&sender, 1, 0, 0, &mut from) })
            .collect();
        let receives: Vec<RequestId> =
            // SAFETY: the bytes outlive the operation, which ends in this function.
            to.iter_mut().map(|bytes| unsafe { ranks::receive(&receiver, 0, bytes) }).collect();
        let mut all = sends.iter().chain(&receives);
        while !all.clone().all(|id| request::is_complete(*id)) {
            sender.progress();
            while receiver.poll_for_certain() {}
            assert!(!run!(receiver, Main, core => core.is_pending()), "the receiver would have slept");
        }
        assert!(all.all(|id| request::consume(*id).is_some_and(|(outcome, _)| outcome.error.is_none())));
        assert!(to.iter().all(|bytes| *bytes == from));
    }

    #[test]
    fn no_thread_sleeps_while_messages_are_streamed_one_by_one() {
        models().iter().for_each(|model| no_thread_sleeps_while_there_are_pulls(model, true));
    }

    #[test]
    fn no_thread_sleeps_while_it_waits_for_the_sender() {
        models().iter().for_each(|model| no_thread_sleeps_while_there_are_pulls(model, false));
    }

    /// Sends a long message, which the receiver fetches by `method`; returns by which one the sender fetches
    /// the receiver's next message.
    fn senders_next_method(
        model: &Model,
        sender: usize,
        len: usize,
        method: TransferMethod,
    ) -> TransferMethod {
        let world: [_; 2] = ranks(model);
        let [(fabric, sending), (_, receiving)] = [&world[sender], &world[1 - sender]];
        let (mut from, mut to) = (vec![7; len], vec![0; len]);
        fabric.attendance(sender, 0).store(1, Ordering::Relaxed);
        run!(receiving, Progress, core => core.rendezvous(Path::Progress, |rendezvous| {
            rendezvous.method_choice(sender, len).follow(method);
        }));
        // SAFETY: the bytes outlive the operation, which ends in this function.
        let send = unsafe { ranks::send(sending, 1 - sender, 0, 5, &mut from) };
        let send = send.expect("too large to be complete at once");
        // SAFETY: the bytes outlive the operation, which ends in this function.
        let receive = unsafe { ranks::receive(receiving, 5, &mut to) };
        while !(request::is_complete(send) && request::is_complete(receive)) {
            receiving.progress();
            sending.progress();
        }
        assert!([send, receive].iter().all(|id| request::consume(*id).is_some()));
        assert!(to == from);
        run!(sending, Progress, core => core.rendezvous(Path::Progress, |rendezvous| {
            rendezvous.method_choice(1 - sender, len).choose(len)
        }))
    }

    #[test]
    fn the_higher_rank_follows_the_choice_of_the_lower_one() {
        use TransferMethod::{Pull, SplitCopy, Stream, StreamPastCaches};
        // The methods that a process would not try first.
        let cases = [(300_001, Stream, [Pull, SplitCopy]), (4 << 20, Pull, [SplitCopy, StreamPastCaches])];
        for model in &models() {
            for (len, first, others) in cases {
                for method in others {
                    assert_eq!(senders_next_method(model, 1, len, method), method);
                    assert_eq!(senders_next_method(model, 0, len, method), first);
                }
            }
        }
    }
}
