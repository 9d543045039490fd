//! The loops in which a thread waits.

use super::event::{Condition, Event};
use super::{OTHERS_EVERY, fairness};
use crate::buffer::Buffer;
use crate::domain::{self, Domain};
use crate::matching::Key;
use crate::request;
use crate::vni::{Direct, LONGEST_SLEEP};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_sync::{Next, Scope, Waiter};
use heddle_transport::Envelope;

/// The same for those where nobody waits, by threads that yield.
const UNATTENDED_EVERY: u32 = 4;

/// How often a lone waiter looks before it makes itself known: about as long as an answer takes from the other end of the
/// machine.
const POLLS_AT_FIRST: u32 = 64;

/// How often a lone waiter looks before it pauses: a pause takes as long as several looks and delays the answer.
const POLLS_ALONE: u32 = 8;

/// Is called after a wait on a VNI that has ended at once, or nearly: now and then it lets other threads run, and polls the other
/// VNIs.
#[inline(always)]
pub fn ended_promptly(vni: u32) {
    if fairness::is_yield_due() {
        give_way(vni);
    }
}

#[cold]
fn give_way(vni: u32) {
    if let Some(domain) = domain::running() {
        domain.progress_others(vni);
        domain.calls().outside(fairness::yield_now);
    }
}

impl Domain {
    /// Returns when `done` says so, making progress meanwhile, first of all on VNI `vni`. For conditions of which nobody tells.
    #[inline]
    pub fn wait_until(&self, vni: u32, done: impl FnMut() -> bool) {
        self.wait_for(vni, &mut Condition(done));
    }

    /// Returns when the event has happened, making progress meanwhile, first of all on VNI `vni`.
    #[inline]
    pub fn wait_for(&self, vni: u32, event: &mut impl Event) {
        if event.is_over() {
            return;
        }
        // Receivers must know that this process is there to send them what it has offered: then it waits noticeably.
        if !self.vni(vni).has_offers() {
            for _ in 0..if self.is_alone(vni) { POLLS_AT_FIRST } else { 1 } {
                if self.vni(vni).progress() && event.is_over() {
                    return ended_promptly(vni);
                }
            }
        }
        if event.is_over() {
            return;
        }
        if request::are_watchers_signalled() {
            self.wait_by_counter(vni, event);
        } else {
            self.wait_slowly(vni, event);
        }
    }

    /// The source, tag and bytes of the message that a blocking receive waits for, if it comes soon and can be received
    /// without ado. Otherwise nothing has happened.
    #[inline(always)]
    pub fn receive_directly(&self, vni: u32, key: Key, buffer: Buffer) -> Option<(Envelope, usize)> {
        if self.vni(vni).has_offers() || !self.is_alone(vni) {
            return None;
        }
        match self.vni(vni).receive_directly(POLLS_AT_FIRST, key, buffer) {
            Direct::Received(envelope, bytes) => {
                ended_promptly(vni);
                Some((envelope, bytes))
            }
            Direct::Nothing | Direct::Ordinary => None,
        }
    }

    /// Whether a waiter may look a few times before it makes itself known as one that waits, which costs two locked
    /// instructions, one of them after the message has come: as long as it has not, the others that wait on this VNI
    /// do not know that they are not alone.
    #[inline(always)]
    fn is_alone(&self, vni: u32) -> bool {
        !self.calls().is_locked() && self.attendance(vni).load(Ordering::Relaxed) == 0
    }

    /// How many threads wait on a VNI. One count a VNI: threads on different ones share no line that they write.
    #[inline(always)]
    pub(super) fn attendance(&self, vni: u32) -> &AtomicU32 {
        self.fabric().attendance(self.rank(), vni as usize)
    }

    #[cold]
    pub(super) fn wait_slowly(&self, vni: u32, event: &mut dyn Event) {
        let waiting = self.attendance(vni);
        let waiters = waiting.fetch_add(1, Ordering::Relaxed) as usize + 1;
        // A thread that serves the VNI is counted, too, but what is in its way are only those who wait for it.
        let mut waiter = Waiter::new(self.wait_policy(), waiters - usize::from(self.is_offloaded()));
        let mut round = 0u32;
        loop {
            round = round.wrapping_add(1);
            let mut happened = self.poll(vni, waiters);
            if round.is_multiple_of(OTHERS_EVERY) {
                happened |= self.progress_others(vni);
            } else if waiter.has_yielded() && round.is_multiple_of(UNATTENDED_EVERY) {
                // Each round may be a time slice.
                happened |= self.progress_unattended(vni);
            }
            if event.is_over() {
                break;
            }
            if happened {
                waiter.reset();
                continue;
            }
            if self.calls().outside(|| waiter.pause()) == Next::Park {
                self.sleep(event);
                waiter.reset();
            }
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
        if !waiter.has_yielded() {
            ended_promptly(vni);
        }
    }

    /// Looks for messages on a VNI: a few times in a row if no other thread of the process waits.
    #[inline]
    pub(super) fn poll(&self, vni: u32, waiters: usize) -> bool {
        let polls = if waiters == 1 { POLLS_ALONE } else { 1 };
        (0..polls).any(|_| self.vni(vni).progress())
    }

    /// Sleeps until the doorbell rings, unless there is something to do.
    #[cold]
    fn sleep(&self, event: &mut dyn Event) {
        // Whoever makes something happen rings the doorbell: a sender, who gives back credits, who completes an operation.
        let has_work = || !self.is_offloaded() && self.poll_everywhere() || event.is_over();
        if let Some(mut ticket) = self.fabric().own_doorbell().prepare_unless(Scope::Machine, has_work) {
            self.calls().outside(|| ticket.park(Some(LONGEST_SLEEP)));
        }
    }

    pub(super) fn progress_others(&self, vni: u32) -> bool {
        let mut happened = false;
        for (index, other) in (0u32..).zip(self.vnis()) {
            if index != vni {
                happened |= other.visit();
            }
        }
        happened
    }

    /// As [`progress_others`](Self::progress_others), where nobody waits: whoever uses these VNIs may be away for long.
    fn progress_unattended(&self, vni: u32) -> bool {
        let mut happened = false;
        for (index, other) in (0u32..).zip(self.vnis()) {
            if index != vni && self.attendance(index).load(Ordering::Relaxed) == 0 {
                happened |= other.visit();
            }
        }
        happened
    }

    /// Looks on all VNIs, and waits for those in which others are. Returns whether anything happened or is left to do.
    #[cold]
    pub fn poll_everywhere(&self) -> bool {
        let mut happened = false;
        for vni in self.vnis() {
            happened |= vni.poll_for_certain();
        }
        happened
    }

    /// Sends what is still queued, before the process leaves.
    pub fn drain(&self) {
        for (index, vni) in (0u32..).zip(self.vnis()) {
            self.wait_until(index, || vni.is_drained());
        }
    }
}
