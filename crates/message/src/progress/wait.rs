//! The loops in which a thread waits.

use super::event::{Awaited, AwaitedEvent, Condition};
use super::sleep::asleep;
use super::turns::{self, Turns};
use super::{OTHERS_EVERY, fairness};
use crate::buffer::Buffer;
use crate::context::used::{self, VniSet};
use crate::domain::{self, Domain};
use crate::matching::Key;
use crate::request;
use crate::vni::{Direct, LONGEST_SLEEP};
use heddle_model::counters::are_more_per_core_than;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::clock;
use heddle_sync::{Next, Scope, Waiter};
use heddle_transport::Envelope;

/// The number of rounds from one poll to the next of the VNIs on which no thread waits, while
/// the polling thread yields.
const UNATTENDED_EVERY: u32 = 4;

/// The number of polls of a lone waiter before it registers as a waiter: they take about as long as an answer
/// from the other end of the machine.
const POLLS_AT_FIRST: u32 = 64;

/// The number of polls of a lone waiter before it pauses: a pause takes the time of several
/// polls and delays the answer.
const POLLS_ALONE: u32 = 8;

/// Notes that a wait on a VNI has ended at once, or nearly. Now and then it polls the other VNIs and lets
/// other threads run, unless the yield may be a long wait for those that this thread waits for next
/// (`turns.rs`).
#[inline(always)]
pub fn ended_promptly(vni: u32, awaited: Awaited) {
    if fairness::is_yield_due() {
        give_way(vni, awaited);
    }
}

#[cold]
fn give_way(vni: u32, awaited: Awaited) {
    if let Some(domain) = domain::running() {
        domain.progress_others(vni);
        let share_cores = !domain.has_cores();
        if domain.threads_take_turns(awaited) || share_cores && turns::is_bounded(awaited) {
            fairness::leave_out_yield();
        } else {
            domain.calls().outside(fairness::yield_now);
        }
    }
}

impl Domain {
    /// Makes progress until `done` returns true, first of all on VNI `vni`: for conditions that no thread
    /// signals. After that `done` is not called again.
    #[inline]
    pub fn wait_until(&self, vni: u32, done: impl FnMut() -> bool) {
        self.wait_for(vni, &mut Condition::new(done));
    }

    /// Makes progress until the event has happened, first of all on VNI `vni`.
    #[inline]
    pub fn wait_for(&self, vni: u32, event: &mut impl AwaitedEvent) {
        if !self.poll_for(vni, event) {
            self.wait_long(vni, event);
        }
    }

    /// Polls VNI `vni` a few times. Returns true if the event has happened.
    #[inline(always)]
    pub fn poll_for(&self, vni: u32, event: &mut impl AwaitedEvent) -> bool {
        if event.is_over() {
            return true;
        }
        // With rendezvous offers outstanding, the thread skips the quiet polls and registers as a waiter, so
        // that receivers see that this process can copy.
        if !self.vni(vni).has_offers() {
            for _ in 0..if self.is_alone(vni) { POLLS_AT_FIRST } else { 1 } {
                if self.vni(vni).progress() && event.is_over() {
                    ended_promptly(vni, event.awaited());
                    return true;
                }
            }
        }
        event.is_over()
    }

    /// Does the same as [`wait_for`](Self::wait_for) after [`poll_for`](Self::poll_for) has returned false.
    pub fn wait_long(&self, vni: u32, event: &mut impl AwaitedEvent) {
        if self.is_offloaded() && self.wait_beside_server(vni, event) {
            return;
        }
        if request::are_watchers_signalled() {
            self.wait_by_counter(vni, event);
        } else {
            self.wait_slowly(vni, event);
        }
    }

    /// Receives the message of a blocking receive straight from the ring, if it comes soon and the fast path
    /// can take it. Returns its source, tag and number of bytes. Otherwise nothing has happened. `sender`
    /// returns the world rank of the key's source.
    #[inline(always)]
    pub fn receive_directly(
        &self,
        vni: u32,
        key: Key,
        buffer: Buffer,
        sender: impl FnOnce() -> Option<usize>,
    ) -> Option<(Envelope, usize)> {
        if self.vni(vni).has_offers() || !self.is_alone(vni) {
            return None;
        }
        match self.vni(vni).receive_directly(POLLS_AT_FIRST, key, buffer) {
            Direct::Received(envelope, bytes) => {
                ended_promptly(vni, Awaited::Message);
                Some((envelope, bytes))
            }
            Direct::Ordinary if self.vni(vni).has_lanes() => {
                self.receive_directly_on_lane(vni, sender()?, key, buffer)
            }
            Direct::Nothing | Direct::Ordinary => None,
        }
    }

    /// Does the same for a message from `peer` that may be on a lane of this home.
    #[inline(never)]
    fn receive_directly_on_lane(
        &self,
        home: u32,
        peer: usize,
        key: Key,
        buffer: Buffer,
    ) -> Option<(Envelope, usize)> {
        let home = self.vni(home);
        let lane = home.lane_from(peer, &key)?;
        if lane.has_offers() || !self.is_alone(lane.number()) {
            return None;
        }
        match home.receive_directly_on_lane(POLLS_AT_FIRST, (peer, lane), key, buffer) {
            Direct::Received(envelope, bytes) => {
                ended_promptly(lane.number(), Awaited::Message);
                Some((envelope, bytes))
            }
            Direct::Nothing | Direct::Ordinary => None,
        }
    }

    /// Returns true if a waiter may poll a few times before it registers as a waiter, because no other thread
    /// waits on this VNI. Registering costs two locked instructions, one of them after the message has come.
    /// Until it registers, other waiters on this VNI believe that they are alone.
    #[inline(always)]
    fn is_alone(&self, vni: u32) -> bool {
        self.has_cores() && !self.calls().is_locked() && self.attendance(vni).load(Ordering::Relaxed) == 0
    }

    /// Returns true if each process has a core, and the threads of this one take [turns](Turns) on theirs
    /// while they wait for that.
    fn threads_take_turns(&self, awaited: Awaited) -> bool {
        let most = turns::most_that_yield(awaited);
        self.has_cores() && most.is_some_and(are_more_per_core_than)
    }

    /// The number of threads that wait on a VNI. Each VNI has its own count, so threads on different VNIs
    /// write to different lines.
    #[inline(always)]
    pub(super) fn attendance(&self, vni: u32) -> &AtomicU32 {
        self.fabric().own_attendance(vni as usize)
    }

    #[cold]
    pub(super) fn wait_slowly(&self, vni: u32, event: &mut dyn AwaitedEvent) {
        let waiting = self.attendance(vni);
        let waiters = waiting.fetch_add(1, Ordering::Relaxed) as usize + 1;
        // An offload thread that serves the VNI is counted as well, but it does not compete with the waiters.
        // Where other processes want the core, a waiter is never alone.
        let crowd = waiters - usize::from(self.is_offloaded()) + usize::from(!self.has_cores());
        let mut turns = self.threads_take_turns(event.awaited()).then(Turns::of_this_thread);
        let mut waiter = match &turns {
            Some(turns) => turns.waiter(self.wait_policy(), crowd),
            None => Waiter::new(self.wait_policy(), crowd),
        };
        let mut round = 0u32;
        loop {
            round = round.wrapping_add(1);
            let mut happened = self.poll(vni, crowd);
            if round.is_multiple_of(OTHERS_EVERY) {
                happened |= self.progress_others(vni);
            } else if waiter.has_yielded() && round.is_multiple_of(UNATTENDED_EVERY) {
                // A round may take a time slice.
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
                self.sleep(vni, event);
                if let Some(turns) = &mut turns {
                    turns.note_sleep();
                }
                waiter.reset();
            }
        }
        if let Some(turns) = turns {
            turns.end();
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
        if !waiter.has_yielded() {
            ended_promptly(vni, event.awaited());
        }
    }

    /// Polls a VNI: a few times in a row if no other thread of the process waits there.
    #[inline]
    pub(super) fn poll(&self, vni: u32, waiters: usize) -> bool {
        let polls = if waiters == 1 { POLLS_ALONE } else { 1 };
        (0..polls).any(|_| self.vni(vni).progress())
    }

    /// Sleeps until the doorbell rings, unless there is something to do.
    #[cold]
    fn sleep(&self, vni: u32, event: &mut dyn AwaitedEvent) {
        // A thread or process that makes something happen rings the doorbell: one that sends, that gives back
        // credits, or that completes an operation.
        let has_work = || !self.is_offloaded() && self.poll_everywhere() || event.is_over();
        if let Some(ticket) = self.fabric().own_doorbell().prepare_unless(Scope::Machine, has_work) {
            self.calls().outside(|| asleep(vni, || ticket.park(Some(LONGEST_SLEEP))));
        }
    }

    /// Makes progress on all VNIs in use but VNI `vni`.
    pub(super) fn progress_others(&self, vni: u32) -> bool {
        let (mut happened, now) = (false, clock::ticks());
        for other in used::due(now).without(vni) {
            happened |= self.visit(other, now);
        }
        happened
    }

    /// Does the same as [`progress_others`](Self::progress_others), on VNIs where no thread waits: the
    /// threads that use them may be busy elsewhere for long.
    fn progress_unattended(&self, vni: u32) -> bool {
        let (mut happened, now) = (false, clock::ticks());
        for other in used::due(now).without(vni) {
            if self.attendance(other).load(Ordering::Relaxed) == 0 {
                happened |= self.visit(other, now);
            }
        }
        happened
    }

    fn visit(&self, vni: u32, now: u64) -> bool {
        let happened = self.vni(vni).visit(now);
        if happened {
            used::mark(VniSet::one(vni));
        }
        happened
    }

    /// Polls all VNIs where messages may arrive, and waits for critical sections that other threads are in.
    /// Returns true if anything happened or is left to do; if not, a message from another machine rings the
    /// doorbell from now on.
    #[cold]
    pub fn poll_everywhere(&self) -> bool {
        let mut happened = false;
        for vni in used::all() {
            happened |= self.vni(vni).poll_for_certain();
        }
        happened || self.fabric().has_work_from_network()
    }

    /// Sends all queued messages, before the process leaves. With `fetched` it also waits until the receivers
    /// have fetched what they were offered by rendezvous. It gives up as soon as `is_vain` returns true.
    pub fn drain(&self, fetched: bool, is_vain: impl Fn() -> bool) {
        for (index, vni) in (0u32..).zip(self.vnis()) {
            self.wait_until(index, || is_vain() || vni.is_drained() && !(fetched && vni.has_offers()));
        }
        self.wait_until(0, || is_vain() || self.fabric().is_network_drained());
    }
}
