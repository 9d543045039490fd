//! What a VNI consists of: its objects, each behind its section, and how progress is made with them.
//!
//! A `Core` is shared by the threads that are in the VNI: under [`Parted`](heddle_model::Parted) by any number, under
//! [`Whole`](heddle_model::Whole) by one at a time.

use super::large::Large;
use super::receive::Message;
use super::rendezvous::Pull;
use super::send::Channel;
use super::way::Rules;
use super::{POLL_BUDGET, halves::Push};
use crate::matching::{Key, Matching};
use crate::progress::Probers;
use crate::request::{self, Outcome, PartOver, RequestId, Stage};
use heddle_model::counters::{self, Event, Row, Section};
use heddle_model::{Object, Path, SectionOf, Sections};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_sync::{Bell, Scope};
use heddle_transport::{Fabric, Inbox};
use std::sync::Arc;

/// The objects of a VNI.
#[derive(Debug)]
pub(crate) struct Core<S: Rules> {
    pub(super) rank: usize,
    /// The VNI's own.
    pub(super) index: usize,
    bell: OwnBell,
    pub(super) fabric: Fabric,
    arrivals: S::Section<Arrivals>,
    meetings: S::Shards<Meeting>,
    large: S::Section<Large>,
    pub(super) peers: Box<[Peer<S>]>,
    /// How much is to be done for large messages and the like: written in that section.
    pending: AtomicUsize,
    /// How much waits for room in the rings to all peers.
    pub(super) backlogged: AtomicUsize,
    /// The VNI's.
    pub(super) offers: Arc<AtomicUsize>,
    /// Where progress is counted.
    pub(super) row: Row,
    /// Operations completed so far, unless each thread counts its own.
    completed: AtomicUsize,
}

/// What is sent to one peer.
#[derive(Debug)]
pub(super) struct Peer<S: Rules> {
    pub(super) channel: S::Section<Channel<S::Inside>>,
    /// The ring, where that is not in the channel's section.
    pub(super) outside: S::Outside,
    /// How much waits for room in the ring: written in the channel's section.
    pub(super) backlogged: AtomicUsize,
}

/// The rings from all senders. Who reads them keeps the section until what was read is delivered, so that the messages of
/// one sender are matched in their order.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) inbox: Inbox,
}

impl Object for Arrivals {
    const SECTION: Section = Section::Arrivals;
    const LEVEL: u32 = 0;
}

/// Where messages and receives of some contexts meet.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) matching: Matching<Message>,
    /// Threads that wait for a message to come.
    pub(super) probers: Probers<Key>,
}

impl Meeting {
    fn new() -> Meeting {
        Meeting { matching: Matching::new(), probers: Probers::default() }
    }

    /// Keeps a message that no receive waits for.
    #[inline]
    pub(super) fn store(&mut self, key: Key, message: Message) {
        self.matching.store(key, message);
        self.probers.tell(|wanted| wanted.wants(&key));
    }

    /// As [`store`](Self::store), with a stamp. Nobody probes for such messages.
    pub(super) fn store_stamped(&mut self, key: Key, message: Message, stamp: u64) {
        self.matching.store_stamped(key, message, stamp);
    }
}

impl Object for Meeting {
    const SECTION: Section = Section::Matching;
    const LEVEL: u32 = 1;
}

/// The process's bell: in the mapping that `fabric` keeps alive, like the rings.
#[derive(Debug)]
struct OwnBell(*const Bell);

// SAFETY: a bell is made for many threads.
unsafe impl Send for OwnBell {}
// SAFETY: as above.
unsafe impl Sync for OwnBell {}

/// What came of a look.
#[derive(Debug)]
pub(super) enum Step {
    Nothing,
    /// Something did, or pulls wait for their turn.
    Happened,
    /// These are to be done now, outside of all sections.
    Pull(Pull),
    Push(Push),
}

/// How a section is entered by who looks for something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// Only if nobody else is in it.
    Try,
    /// The same; if somebody is, then something happens, so this is no time to sleep.
    TryForCertain,
    /// For certain.
    Wait,
}

impl Entry {
    #[inline(always)]
    pub(super) fn enter<T, R>(
        self,
        section: &impl SectionOf<T>,
        operation: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        match self {
            Entry::Try | Entry::TryForCertain => section.try_with(Path::Progress, operation),
            Entry::Wait => Some(section.with(Path::Progress, operation)),
        }
    }

    /// Whether something happened, as seen by who did something inside, or did not get there.
    #[inline(always)]
    pub(super) fn happened(self, inside: Option<bool>) -> bool {
        inside.unwrap_or(self == Entry::TryForCertain)
    }
}

impl<S: Rules> Core<S> {
    pub(super) fn new(fabric: &Fabric, vni: usize, sections: &Sections, offers: Arc<AtomicUsize>) -> Core<S> {
        let peer = |peer| {
            let (inside, outside) = S::ring(fabric, vni, peer);
            let channel = S::guard(sections, Channel::new(inside));
            Peer { channel, outside, backlogged: AtomicUsize::new(0) }
        };
        let process = fabric.clone();
        let wake_sleepers = move || _ = process.own_bell().ring(Scope::Machine);
        Core {
            rank: fabric.rank(),
            index: vni,
            bell: OwnBell(fabric.own_bell()),
            fabric: fabric.clone(),
            arrivals: S::guard(sections, Arrivals { inbox: Inbox::new(fabric, vni) }),
            meetings: S::shards(sections, Meeting::new, wake_sleepers),
            large: S::guard(sections, Large::new(fabric.size())),
            peers: (0..fabric.size()).map(peer).collect(),
            pending: AtomicUsize::new(0),
            backlogged: AtomicUsize::new(0),
            offers,
            row: sections.row(vni),
            completed: AtomicUsize::new(0),
        }
    }

    /// The rings that are read.
    #[inline(always)]
    pub(super) fn arrivals(&self) -> &S::Section<Arrivals> {
        &self.arrivals
    }

    /// Where the messages of a context are matched. Wildcards never cross contexts, so each is on its own.
    #[inline(always)]
    pub(super) fn meeting(&self, context: u64) -> &S::Shard<Meeting> {
        S::shard(&self.meetings, context)
    }

    /// Runs an operation on what is kept of large messages.
    pub(super) fn large<R>(&self, path: Path, operation: impl FnOnce(&mut Large) -> R) -> R {
        self.large.with(path, |large| self.noting(large, operation))
    }

    #[inline]
    fn noting<R>(&self, large: &mut Large, operation: impl FnOnce(&mut Large) -> R) -> R {
        let result = operation(large);
        // Relaxed: a hint. Who must not miss anything, before it sleeps, is told by the bell, or had a barrier.
        self.pending.store(large.pending(), Ordering::Relaxed);
        result
    }

    /// Whether something is to be done for large messages, flushes or abandoned requests.
    #[inline(always)]
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Whether something waits for room.
    #[inline(always)]
    pub(super) fn is_backlogged(&self) -> bool {
        self.backlogged.load(Ordering::Relaxed) != 0
    }

    /// Looks for something to do, and does it.
    #[inline]
    pub(super) fn step(&self, entry: Entry) -> Step {
        let completed_before = self.completions();
        let happened = self.poll(entry);
        if happened {
            self.count_progress(completed_before);
        }
        if self.is_pending() {
            return self.step_large(entry, happened);
        }
        if happened { Step::Happened } else { Step::Nothing }
    }

    /// Takes what has arrived, and sends what waits for room.
    #[inline]
    pub(super) fn poll(&self, entry: Entry) -> bool {
        let arrived = entry.enter(
            &self.arrivals,
            #[inline(always)]
            |arrivals| arrivals.inbox.poll(POLL_BUDGET, |peer, message| self.arrive(peer, message)),
        );
        let mut happened = entry.happened(arrived.map(|arrived| arrived != 0));
        happened |= S::serve_left(&self.meetings);
        if self.is_backlogged() {
            happened |= self.drain_backlogs(entry);
        }
        happened
    }

    #[cold]
    fn step_large(&self, entry: Entry, polled: bool) -> Step {
        let step = entry.enter(&self.large, |large| self.noting(large, |large| self.advance(large)));
        match step {
            Some(Step::Nothing) | None if polled => Step::Happened,
            Some(step) => step,
            None if entry.happened(None) => Step::Happened,
            None => Step::Nothing,
        }
    }

    /// Does what can be done for large messages, flushes and abandoned requests.
    fn advance(&self, large: &mut Large) -> Step {
        let mut happened = self.pump_streams(large);
        happened |= self.complete_flushes(large);
        happened |= self.run_sequels(large);
        large.release_abandoned();
        if let Some(push) = large.pushes.pop_front() {
            return Step::Push(push);
        }
        if let Some(pull) = self.next_pull(large) {
            return Step::Pull(pull);
        }
        // A pull that was streamed instead, or that waits for its sender, leaves others behind it: look again.
        if happened || !large.pulls.is_empty() { Step::Happened } else { Step::Nothing }
    }

    /// Completes the flushes whose buffered sends have left.
    fn complete_flushes(&self, large: &mut Large) -> bool {
        let mut happened = false;
        for flush in large.flushes.extract_if(.., |flush| flush.is_over()) {
            self.complete(flush.request, Outcome::empty());
            happened = true;
        }
        happened
    }

    /// Does what was to be done after operations that are over.
    fn run_sequels(&self, large: &mut Large) -> bool {
        let due = large.due_sequels();
        let happened = !due.is_empty();
        for sequel in due {
            if let Some(id) = sequel.run(&mut |id, args| self.send_into(id, args)) {
                self.complete(id, Outcome::empty());
            }
        }
        happened
    }

    /// Runs something about what the program itself completes and frees, and completes the request that it gives.
    pub(super) fn settle<R>(&self, operation: impl FnOnce() -> (Option<RequestId>, R)) -> R {
        self.large(Path::Main, |_| {
            let (complete, result) = operation();
            if let Some(id) = complete {
                self.complete(id, Outcome::empty());
            }
            result
        })
    }

    /// Completes a request that is this thread's to complete, and wakes its waiter, should it sleep.
    #[inline(always)]
    pub(super) fn complete(&self, id: RequestId, outcome: Outcome) {
        // SAFETY: the request is active, and the caller has its flight.
        let part = unsafe { request::complete(id, outcome) };
        self.completed(part);
    }

    /// How many operations are complete, as far as this thread completes them.
    #[inline(always)]
    fn completions(&self) -> u64 {
        if S::PARTED { counters::work_here() } else { self.completed.load(Ordering::Relaxed) as u64 }
    }

    /// Counts what was done on the progress path since so many operations were complete.
    #[inline]
    fn count_progress(&self, completed_before: u64) {
        if !S::PARTED {
            // There is one matching.
            let steps = self.meeting(0).with(Path::Progress, |meeting| meeting.matching.take_steps());
            counters::count(Event::MatchingStep, steps);
        }
        if self.completions() != completed_before {
            self.row.completed_something();
        }
    }

    /// A request was completed, perhaps as a part of another one.
    #[inline(always)]
    pub(super) fn completed(&self, part: Option<PartOver>) {
        if S::PARTED {
            counters::count(Event::Work, 1);
        } else {
            S::change(&self.completed, 1);
        }
        match part {
            None => self.wake_sleepers(),
            Some(part) => self.part_is_over(part),
        }
    }

    /// Notes the end of a part of a joint request, and wakes the waiter, should it sleep.
    #[cold]
    fn part_is_over(&self, part: PartOver) {
        // SAFETY: the part was missing until it was completed.
        unsafe { request::complete_part(part) };
        self.wake_sleepers();
    }

    /// Wakes whoever sleeps in this process: something was completed, or there is something to do.
    #[inline(always)]
    pub(super) fn wake_sleepers(&self) {
        // SAFETY: the bell lives as long as the fabric.
        unsafe { &*self.bell.0 }.ring(Scope::Machine);
    }

    /// One more large message, or one fewer, is offered to its receiver.
    pub(super) fn count_offer(&self, change: isize) {
        S::change(&self.offers, change);
    }

    /// Whether nothing waits to be sent.
    pub(super) fn is_drained(&self) -> bool {
        !self.is_backlogged() && self.large(Path::Progress, |large| large.streams.is_empty())
    }

    /// Takes back a posted receive, if it was not matched yet; it completes as cancelled.
    pub(super) fn cancel_receive(&self, id: RequestId) {
        let context = request::context_of(id);
        let unposted = self.meeting(context).with(Path::Main, |meeting| {
            // SAFETY: the stage of an active receive is written in this section.
            let stage = unsafe { request::stage(id) };
            matches!(stage, Stage::Posted(place) if meeting.matching.unpost(place, id))
        });
        if unposted {
            self.complete(id, Outcome { cancelled: true, ..Outcome::empty() });
        }
    }
}
