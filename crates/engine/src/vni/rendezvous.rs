//! Large messages: the data moves only once its receive is known.
//!
//! **Single copy.** If both buffers lie in one piece and the kernel permits it, the receiver copies straight from the
//! sender's memory and says FIN. The copy is made outside of the VNI's section, so that others can use it meanwhile.
//!
//! ```text
//!   sender                receiver
//!     ── RTS (address) ──▶
//!                          process_vm_readv
//!     ◀────── FIN ────────
//! ```
//!
//! **By halves** (`halves.rs`), if that has proved quicker and the sender waits in MPI, so that it can copy, too.
//!
//! **Streaming** otherwise, or if that has proved quicker (`pace.rs`) and the sender waits in MPI: the sender packs piece
//! by piece into the ring, the receiver unpacks piece by piece.
//!
//! ```text
//!     ── RTS ────────────▶
//!     ◀────── CTS (room) ─
//!     ── DATA … DATA ────▶
//! ```

use super::Core;
use super::halves::{self, Half};
use super::pace::{LARGE, Pace, Way};
use super::receive::truncated;
use super::wire::{self, Cts, Rts};
use crate::matching::Key;
use crate::request::{self, Outcome, RequestId, Stage};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::clock;
use heddle_transport::{Incoming, single_copy};
use std::io;

/// Bytes of one piece of a streamed message.
const PIECE: usize = 32 << 10;

/// A receiver hopes for the sender of a message to begin to wait, if the message has so many bytes or more …
const WORTH_PATIENCE: usize = 256 << 10;
/// … for a nanosecond for every so many of them, which is a few hundredths of the time that a single copy takes. The
/// sender of a window of messages issues all of them before it waits for the first.
const BYTES_A_NANOSECOND: u64 = 128;
/// It never hopes for longer.
const LONGEST_HOPE: Nanoseconds = 50_000;

/// A length of time.
type Nanoseconds = u64;

/// Set when the kernel has refused a single copy, so that it is not tried again.
pub(super) static REFUSED: AtomicBool = AtomicBool::new(false);

/// Turns single copies off (`HEDDLE_SINGLE_COPY=off`).
pub(crate) fn refuse_single_copy() {
    REFUSED.store(true, Ordering::Relaxed);
}

/// A copy to be made from another process's memory, outside of the section.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) receive: RequestId,
    pub(super) key: Key,
    pub(super) peer: usize,
    pub(super) rts: Rts,
    pub(super) local: *mut u8,
    pub(super) len: usize,
    /// When to pull although the sender has not begun to wait.
    hope_until_ns: u64,
    /// Bytes that the receiver copies: all, or the front half.
    pub(super) share: usize,
}

// SAFETY: the receive's buffer belongs to MPI until the receive completes.
unsafe impl Send for Pull {}

impl Pull {
    /// Makes the copy; returns how long that took.
    ///
    /// # Errors
    /// What the kernel says.
    pub(super) fn run(&self) -> io::Result<Nanoseconds> {
        let began = clock::now_ns();
        // SAFETY: `local` is the receive's buffer and has room for `len` bytes, of which `share` is a part.
        unsafe { single_copy::read(self.rts.pid as i32, self.rts.address, self.local, self.share) }?;
        Ok(clock::now_ns() - began)
    }
}

/// A message that is being sent in pieces.
#[derive(Debug)]
pub(super) struct Stream {
    send: RequestId,
    receive: RequestId,
    peer: usize,
    sent: usize,
    wanted: usize,
}

impl Core {
    /// A receive has met a rendezvous message: fetch the data.
    pub(super) fn fetch(&mut self, id: RequestId, key: &Key, peer: usize, rts: Rts) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        let wanted = flight.buffer.len().min(rts.len as usize);
        // No longer posted: it cannot be cancelled any more.
        flight.stage = Stage::UnderWay;
        flight.peer = peer;
        flight.source = key.source();
        flight.tag = key.tag();
        flight.arrived = 0;
        flight.past_caches = false;
        flight.wanted = wanted;
        match flight.buffer.contiguous() {
            Some(local) if rts.address != 0 && !REFUSED.load(Ordering::Relaxed) => {
                let hope = |bytes: u64| clock::now_ns() + (bytes / BYTES_A_NANOSECOND).min(LONGEST_HOPE);
                let hope_until_ns = if wanted >= WORTH_PATIENCE { hope(wanted as u64) } else { 0 };
                self.pulls.push_back(Pull {
                    receive: id,
                    key: *key,
                    peer,
                    rts,
                    local,
                    len: wanted,
                    hope_until_ns,
                    share: wanted,
                });
                // This thread may leave MPI before it comes to that; sleepers can do it, too.
                self.wake_sleepers();
            }
            _ => self.ask_for_pieces(id, key, peer, rts),
        }
    }

    /// Whether there are messages to be pulled.
    #[inline]
    pub(super) fn has_pulls(&self) -> bool {
        !self.pulls.is_empty()
    }

    /// The next message to be pulled now. If its sender waits in MPI, it is perhaps better streamed.
    pub(super) fn next_pull(&mut self) -> Option<Pull> {
        let mut pull = self.pulls.pop_front()?;
        let attended = self.fabric.attendance(pull.peer).load(Ordering::Relaxed) != 0;
        if !attended && pull.hope_until_ns != 0 && clock::now_ns() < pull.hope_until_ns {
            self.pulls.push_front(pull);
            return None;
        }
        let way = if attended { self.pace(pull.peer, pull.len).choose() } else { Way::Pull };
        match way {
            Way::Pull => return Some(pull),
            // What is cut off needs an error, which the other ways bring along.
            Way::Halves if !halves::are_possible() => return Some(pull),
            Way::Halves if pull.len as u64 == pull.rts.len => {
                pull.share = self.ask_for_half(&pull);
                return Some(pull);
            }
            Way::Halves | Way::Stream | Way::StreamPastCaches => {}
        }
        // SAFETY: an active request of this VNI, whose section we are in.
        unsafe { request::flight(pull.receive) }.past_caches = way == Way::StreamPastCaches;
        self.ask_for_pieces(pull.receive, &pull.key, pull.peer, pull.rts);
        None
    }

    pub(super) fn pace(&mut self, peer: usize, bytes: usize) -> &mut Pace {
        let [medium, large] = &mut self.paces[peer];
        if bytes < LARGE { medium } else { large }
    }

    pub(super) fn ask_for_pieces(&mut self, id: RequestId, key: &Key, peer: usize, rts: Rts) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let wanted = unsafe { request::flight(id) }.wanted;
        let cts = Cts { sender: rts.request, receiver: id, wanted: wanted as u64 };
        self.send_control(peer, wire::CTS, cts.to_bytes());
        // SAFETY: as above.
        let flight = unsafe { request::flight(id) };
        flight.asked_ns = clock::now_ns();
        flight.keep = (rts.len as usize > wanted)
            .then(|| Box::new(truncated(key, rts.len, wanted)) as Box<dyn std::any::Any + Send>);
        if wanted == 0 {
            self.stream_complete(id);
        }
    }

    /// A single copy was made, or refused by the kernel.
    pub(super) fn finish_pull(&mut self, pull: Pull, result: io::Result<Nanoseconds>) {
        let Pull { receive, key, peer, rts, len, share, .. } = pull;
        if share < len {
            return self.half_is_over(receive, Half::Front, result.is_ok());
        }
        match result {
            Ok(took) => self.pace(peer, len).pulled(len, took),
            Err(_) => {
                REFUSED.store(true, Ordering::Relaxed);
                return self.ask_for_pieces(receive, &key, peer, rts);
            }
        }
        self.tell_sender(peer, rts.request);
        let error = (rts.len as usize > len).then(|| truncated(&key, rts.len, len));
        self.complete_receive(receive, &key, len as u64, error);
    }

    /// The receiver wants the data in pieces.
    pub(super) fn clear_to_send(&mut self, cts: Cts) {
        // SAFETY: the send is active on this VNI, whose section we are in, until it is told to be done.
        let peer = unsafe { request::flight(cts.sender) }.peer;
        let wanted = cts.wanted as usize;
        if wanted == 0 {
            return self.sender_done(cts.sender);
        }
        self.streams.push(Stream { send: cts.sender, receive: cts.receiver, peer, sent: 0, wanted });
        self.pump_streams();
    }

    /// Sends pieces as long as there is room.
    pub(super) fn pump_streams(&mut self) -> bool {
        let mut happened = false;
        let mut streams = std::mem::take(&mut self.streams);
        streams.retain_mut(|stream| {
            // SAFETY: the send is active on this VNI, whose section we are in.
            let buffer = &unsafe { request::flight(stream.send) }.buffer;
            while stream.sent < stream.wanted {
                let len = PIECE.min(stream.wanted - stream.sent);
                let extra = wire::to_bytes([u64::from(stream.receive), stream.sent as u64, 0]);
                if !self.send_piece(stream.peer, &extra, len, |to| buffer.read_large(stream.sent, to, len)) {
                    return true;
                }
                stream.sent += len;
                happened = true;
            }
            self.sender_done(stream.send);
            false
        });
        self.streams = streams;
        happened
    }

    /// A piece has arrived.
    pub(super) fn piece_arrived(&mut self, message: &Incoming) {
        let [receive, offset, _] = wire::from_bytes(&message.extra());
        let id = receive as RequestId;
        // SAFETY: the receive is active on this VNI, whose section we are in, until its last piece came.
        let flight = unsafe { request::flight(id) };
        flight.buffer.write_large(offset as usize, message.payload(), flight.past_caches);
        flight.arrived += message.len();
        if flight.arrived == flight.wanted {
            self.stream_complete(id);
        }
    }

    fn stream_complete(&mut self, id: RequestId) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let flight = unsafe { request::flight(id) };
        let error = flight.keep.take().and_then(|kept| kept.downcast().ok()).map(|error| *error);
        let (source, tag, bytes) = (flight.source, flight.tag, flight.wanted as u64);
        let way = if flight.past_caches { Way::StreamPastCaches } else { Way::Stream };
        let (peer, wanted, asked_ns) = (flight.peer, flight.wanted, flight.asked_ns);
        self.pace(peer, wanted).sent_jointly(way, wanted, asked_ns, clock::now_ns());
        self.complete(id, Outcome { source, tag, bytes, cancelled: false, error });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vni::ranks::{self, ranks};

    const MESSAGES: usize = 20;

    /// Rank 0 sends large messages to rank 1, and waits for that in MPI or does not. A receiver that looked in vain would
    /// sleep, so as long as messages are to be pulled no look may be called in vain.
    fn nobody_sleeps_while_there_are_pulls(sender_waits: bool) {
        let [(sender_fabric, sender), (_, receiver)] = ranks();
        let len = 2 * WORTH_PATIENCE;
        let mut from = vec![0u8; len];
        from.iter_mut().zip(0u8..=255).for_each(|(byte, value)| *byte = value);
        let mut to = vec![vec![0u8; len]; MESSAGES];
        let attendance = sender_fabric.attendance(0);
        attendance.store(u32::from(sender_waits), Ordering::Relaxed);
        let sends: Vec<RequestId> = (0..MESSAGES)
            // SAFETY: the bytes outlive the operation, which ends in this function.
            .filter_map(|_| unsafe { ranks::send(&sender, 1, 0, 0, &mut from) })
            .collect();
        let receives: Vec<RequestId> =
            // SAFETY: as above.
            to.iter_mut().map(|bytes| unsafe { ranks::receive(&receiver, 0, bytes) }).collect();
        let mut all = sends.iter().chain(&receives);
        while !all.clone().all(|id| request::is_complete(*id)) {
            sender.progress();
            while receiver.look() {}
            assert!(!receiver.with(|core| core.has_pulls()), "the receiver would have slept");
        }
        assert!(all.all(|id| request::consume(*id).is_some_and(|(outcome, _)| outcome.error.is_none())));
        assert!(to.iter().all(|bytes| *bytes == from));
    }

    #[test]
    fn nobody_sleeps_while_messages_are_streamed_one_by_one() {
        nobody_sleeps_while_there_are_pulls(true);
    }

    #[test]
    fn nobody_sleeps_while_it_hopes_for_the_sender() {
        nobody_sleeps_while_there_are_pulls(false);
    }
}
