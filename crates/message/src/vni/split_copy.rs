//! Split copy: single copy by two cores at once, each side copies one half.
//!
//! ```text
//!   sender                       receiver
//!     ── RTS (address) ─────────▶
//!     ◀───── PUSH (address) ─────
//!     process_vm_writev           process_vm_readv
//!     (rear half)                 (front half)
//!     ── PUSHED ────────────────▶
//!     ◀────────── FIN ───────────
//! ```
//!
//! Both copies are made outside all critical sections. If one fails, the message is
//! streamed after both have ended.

use super::core::Core;
use super::rendezvous_state::RendezvousState;
use super::ring_access::Rules;
use super::under_way::{Half, HalfEnd, Pull, PushUnderWay, SplitCopy};
use super::wire::{self};
use crate::request::{self, RequestId};
use crate::transfer_method::TransferMethod;
use heddle_model::Path;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::clock;
use std::io;

/// The receiver's half is a multiple of this, so that only one page is touched by both sides.
const PAGE: usize = 4096;

/// The number of messages that go without split copy after the kernel has refused a sender's copy.
const PATIENCE: u32 = 1024;

/// The number of messages that still do so.
static WITHOUT: AtomicU32 = AtomicU32::new(0);

/// Returns true if split copy can be chosen for the next message.
pub(super) fn is_possible() -> bool {
    // Relaxed, and no exchange: nothing depends on the exact number.
    let without = WITHOUT.load(Ordering::Relaxed);
    if without != 0 {
        WITHOUT.store(without - 1, Ordering::Relaxed);
    }
    without == 0
}

/// The first byte that the sender copies.
fn middle(len: usize) -> usize {
    (len / 2) & !(PAGE - 1)
}

impl<S: Rules> Core<S> {
    /// Asks the sender to copy the rear half of a message; returns the length of the front half. From then on
    /// the in-flight state belongs to the thread that sees that both halves are over.
    pub(crate) fn ask_for_half(&self, rendezvous: &mut RendezvousState, pull: &Pull) -> usize {
        let Pull { receive, key, peer, rts, local, len, .. } = *pull;
        rendezvous.split_copies.push(SplitCopy {
            receive,
            key,
            peer,
            rts,
            asked_ns: clock::now_ns(),
            over: [None; 2],
        });
        let push =
            wire::Push { sender: rts.request, receiver: receive, address: local.expose_provenance() as u64 };
        let header = wire::answer(wire::PUSH, Some(TransferMethod::SplitCopy));
        self.send_control_as(peer, header, push.to_bytes());
        middle(len)
    }

    /// Adds a copy of the rear half to the list of pushes, because the receiver wants it copied from here.
    pub(crate) fn push_wanted(&self, push: wire::Push) {
        // SAFETY: the in-flight state of a send whose receiver answers belongs to the critical section of
        // arrivals, where this thread is.
        let in_flight = unsafe { request::in_flight(push.sender) };
        in_flight.answered();
        in_flight.being_read = true;
        let (begin, end) = (middle(in_flight.buffer.len()), in_flight.buffer.len());
        let Some(local) = in_flight.buffer.contiguous() else {
            unreachable!("the receiver was given an address");
        };
        let push = PushUnderWay {
            send: push.sender,
            receive: push.receiver,
            peer: in_flight.peer,
            pid: self.fabric.copy_partner(in_flight.peer),
            // The kernel refuses an address that is none.
            remote: push.address.wrapping_add(begin as u64),
            local: local.wrapping_add(begin),
            len: end - begin,
        };
        self.rendezvous(Path::Progress, |rendezvous| rendezvous.pushes.push_back(push));
        // This thread may leave MPI before it makes the copy; a sleeping thread can make it, too.
        self.wake_sleepers();
    }

    /// Tells the receiver that the rear half was copied, or that the kernel refused the copy.
    pub(crate) fn finish_push(&self, push: &PushUnderWay, result: &io::Result<()>) {
        let end = HalfEnd::of(result);
        if let Err(error) = result {
            self.fabric.note_refusal(push.peer, error);
        }
        let words = [u64::from(push.receive), end as u64, 0];
        // SAFETY: the thread that copies the rear half has the in-flight state of the send.
        unsafe { request::in_flight(push.send) }.being_read = false;
        // SAFETY: this process does nothing more with the send; its receiver answers only after this message.
        unsafe { request::hand_over(push.send) };
        self.send_control(push.peer, wire::PUSHED, wire::to_bytes(words));
    }

    /// Notes that one half of a message was copied, or could not be. If the other one is over as well,
    /// completes the receive, or asks for the message in pieces.
    pub(crate) fn half_is_over(&self, receive: RequestId, half: Half, end: HalfEnd) {
        let over = self.rendezvous(Path::Progress, |rendezvous| {
            let (split_copy, front, rear) = rendezvous.note_half(receive, half, end)?;
            if front == HalfEnd::Copied && rear == HalfEnd::Copied {
                let SplitCopy { peer, rts, asked_ns, .. } = split_copy;
                let len = rts.len as usize;
                rendezvous.method_choice(peer, len).sent_jointly(
                    TransferMethod::SplitCopy,
                    len,
                    asked_ns,
                    clock::now_ns(),
                );
            }
            Some((split_copy, front, rear))
        });
        let Some((SplitCopy { key, peer, rts, .. }, front, rear)) = over else { return };
        if front != HalfEnd::Copied || rear != HalfEnd::Copied {
            if rear == HalfEnd::Forbidden {
                WITHOUT.store(PATIENCE, Ordering::Relaxed);
            }
            return self.ask_for_pieces(receive, &key, peer, rts);
        }
        self.tell_sender(peer, rts.request, None);
        self.complete_receive(receive, &key, rts.len, None);
    }
}

impl RendezvousState {
    /// Returns true if a receive waits for the half that a peer was asked to copy.
    pub(crate) fn awaits_half(&self, receive: RequestId, peer: usize) -> bool {
        self.split_copies.iter().any(|split_copy| split_copy.receive == receive && split_copy.peer == peer)
    }

    /// Notes the end of one half. Once both are over, returns the message, and how its front and its rear
    /// half ended.
    fn note_half(
        &mut self,
        receive: RequestId,
        half: Half,
        end: HalfEnd,
    ) -> Option<(SplitCopy, HalfEnd, HalfEnd)> {
        let Some(at) = self.split_copies.iter().position(|split_copy| split_copy.receive == receive) else {
            unreachable!("no process copies half a message that was not asked for");
        };
        self.split_copies[at].over[half as usize] = Some(end);
        let [Some(front), Some(rear)] = self.split_copies[at].over else { return None };
        Some((self.split_copies.swap_remove(at), front, rear))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vni::interface::{VniState, apart};
    use crate::vni::step::{Entry, Step};
    use crate::vni::tests::ranks::{self, models, ranks};
    use heddle_model::{Model, Whole};

    const LEN: usize = 300_001;

    fn refused() -> io::Result<()> {
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }

    /// Sends one message by split copy. The kernel may refuse either half; the rear
    /// half is over first or last.
    fn arrives(model: &Model, front_refused: bool, rear_refused: bool, rear_first: bool) {
        let [(_sender_fabric, sender), (receiver_fabric, receiver)] = ranks(model);
        let mut from: Vec<u8> = (0..LEN).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut to = vec![0; LEN];
        // SAFETY: the bytes outlive the operation, which ends in this function.
        let send = unsafe { ranks::send(&sender, 1, 0, 5, &mut from) };
        let send = send.expect("too large to be complete at once");
        // SAFETY: the bytes outlive the operation, which ends in this function.
        let receive = unsafe { ranks::receive(&receiver, 5, &mut to) };

        let pull = run!(receiver, Progress, core => {
            core.poll(Entry::Wait);
            core.rendezvous(Path::Progress, |rendezvous| {
                let mut pull = rendezvous.pulls.pop_front().expect("it was offered");
                pull.share = core.ask_for_half(rendezvous, &pull);
                pull
            })
        });
        let Step::Push(push) = run!(sender, Progress, core => core.step(Entry::Wait)) else {
            panic!("the sender does not copy its half");
        };
        assert_eq!(pull.share + push.len, LEN);

        let mut pull = Some((if front_refused { refused().map(|()| 0) } else { pull.run() }, pull));
        let mut finish_front = || {
            let (result, pull) = pull.take().expect("once");
            run!(receiver, Progress, core => core.finish_pull(pull, result));
        };
        if !rear_first {
            finish_front();
        }
        let result = if rear_refused { refused() } else { push.run() };
        run!(sender, Progress, core => core.finish_push(&push, &result));
        run!(receiver, Progress, core => core.poll(Entry::Wait));
        if rear_first {
            finish_front();
        }
        while !(request::is_complete(send) && request::is_complete(receive)) {
            sender.progress();
            receiver.progress();
        }
        for id in [send, receive] {
            let (outcome, _) = request::consume(id).expect("no other thread took it");
            assert!(outcome.error.is_none());
        }
        assert!(from == to, "other bytes arrived than were sent");
        assert!(!sender.has_offers());
        assert_eq!(receiver_fabric.copy_partner(0).is_none(), front_refused);
        assert!(
            run!(receiver, Progress, core => core.rendezvous(Path::Progress, |rendezvous| rendezvous.split_copies.is_empty()))
        );
    }

    #[test]
    fn arrives_whichever_half_is_over_first_and_whichever_is_refused() {
        for case in 0..24u32 {
            let bit = |bit: u32| case >> bit & 1 == 1;
            WITHOUT.store(0, Ordering::Relaxed);
            arrives(&models()[(case >> 3) as usize], bit(0), bit(1), bit(2));
            assert_eq!(is_possible(), !bit(1));
            assert!((0..PATIENCE).any(|_| is_possible()), "it is attempted again some time");
        }
    }
}
