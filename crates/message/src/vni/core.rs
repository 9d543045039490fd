//! The core of a VNI: its objects, each behind its critical section.
//!
//! Under [`Parted`](heddle_model::Parted) any number of threads are inside of the VNI and share the core;
//! under [`Whole`](heddle_model::Whole) one thread at a time is.

use super::message::Message;
use super::peers::Peers;
use super::rendezvous_state::RendezvousState;
use super::ring_access::Rules;
use super::trace;
use super::unexpected::UnexpectedBytes;
use crate::matching::{Key, Matching};
use crate::request::{self, Outcome, PartOver, RequestId, Stage};
use crate::spread::{ReceiveChanges, Spreading};
use heddle_model::counters::{self, CountedEvent, Row, Section};
use heddle_model::{GuardedObject, Path, SectionOf, Sections};
use heddle_objects::probers::Probers;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_sync::{Doorbell, Scope};
use heddle_transport::{Fabric, Inbox, Throttle};
use std::sync::Arc;

/// The objects of a VNI.
#[derive(Debug)]
pub(crate) struct Core<S: Rules> {
    pub rank: usize,
    /// The number of the VNI.
    pub index: usize,
    doorbell: DoorbellPointer,
    pub fabric: Fabric,
    /// Raised while unexpected messages take too much memory.
    pub throttle: Arc<Throttle>,
    /// Messages that are spread over VNIs.
    pub spreading: Arc<Spreading<Message>>,
    pub arrivals: S::Section<Arrivals>,
    pub matching_shards: S::Shards<MatchingShard>,
    /// How often the tags and sources of receives change that threads issue by the lock of a whole VNI.
    pub receive_changes: ReceiveChanges,
    pub rendezvous: S::Section<RendezvousState>,
    pub peers: Arc<Peers<S>>,
    /// The number of rendezvous transfers and deferred pieces of work; written in the
    /// rendezvous critical section.
    pending: AtomicUsize,
    /// The number of queued messages of all peers, and one more once a rank is lost (`lost.rs`).
    pub backlogged: AtomicUsize,
    /// The number of lost ranks that the VNI knows; written in the critical section of arrivals.
    pub losses: AtomicUsize,
    /// The VNI's count of rendezvous offers.
    pub offers: Arc<AtomicUsize>,
    /// The statistics of the VNI.
    pub row: Row,
    /// The number of operations completed, unless each thread counts separately.
    completed: AtomicUsize,
}

/// The rings from all senders. A thread that reads them stays in the critical section until the messages are
/// delivered, so that the messages of one sender are matched in order.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pub inbox: Inbox,
}

impl GuardedObject for Arrivals {
    const SECTION: Section = Section::Arrivals;
    const LEVEL: u32 = 0;
}

/// The posted receives and unexpected messages of some contexts.
#[derive(Debug)]
pub(crate) struct MatchingShard {
    pub matching: Matching<Message>,
    /// The memory of its unexpected messages.
    pub bytes: UnexpectedBytes,
    /// The threads that sleep in a probe.
    pub probers: Probers<Key>,
    /// The number of posts when the posted receives were last examined for lost ranks.
    pub examined: u64,
}

impl MatchingShard {
    fn new(throttle: Arc<Throttle>) -> MatchingShard {
        let bytes = UnexpectedBytes::new(throttle);
        MatchingShard { matching: Matching::new(), bytes, probers: Probers::default(), examined: 0 }
    }

    /// Stores an unexpected message.
    #[inline]
    pub(crate) fn store(&mut self, key: Key, message: Message) {
        self.bytes.add(message.footprint());
        trace::unexpected(&key, || message.bytes());
        self.matching.store(key, message);
        self.probers.tell(|wanted| wanted.wants(&key));
    }

    /// Does the same as [`store`](Self::store), with a stamp. No prober waits for such messages.
    pub(crate) fn store_stamped(&mut self, key: Key, message: Message, stamp: u64) {
        self.bytes.add(message.footprint());
        trace::unexpected(&key, || message.bytes());
        self.matching.store_stamped(key, message, stamp);
    }

    /// Removes and returns the oldest unexpected message that a receive with this key matches.
    #[inline(always)]
    pub(crate) fn take(&mut self, key: &Key) -> Option<(Key, Message)> {
        let taken = self.matching.take(key);
        // The message is read by reference, so that it is not moved once more.
        if let Some((exact, message)) = &taken {
            self.bytes.remove(message.footprint());
            trace::matched(exact, || message.bytes(), true);
        }
        taken
    }

    /// Does the same as [`take`](Self::take) if `is_wanted` accepts the message; otherwise leaves it.
    #[inline]
    pub(crate) fn take_if(
        &mut self,
        key: &Key,
        is_wanted: impl FnOnce(&Message) -> bool,
    ) -> Option<(Key, Message)> {
        let taken = self.matching.take_if(key, is_wanted);
        if let Some((exact, message)) = &taken {
            self.bytes.remove(message.footprint());
            trace::matched(exact, || message.bytes(), true);
        }
        taken
    }
}

impl MatchingShard {
    /// Removes the unexpected message with this exact key that `is_wanted` accepts, because
    /// its sender wants it back.
    pub(crate) fn withdraw(&mut self, key: &Key, is_wanted: impl Fn(&Message) -> bool) -> bool {
        let Some(message) = self.matching.withdraw(key, is_wanted) else { return false };
        self.bytes.remove(message.footprint());
        true
    }
}

impl GuardedObject for MatchingShard {
    const SECTION: Section = Section::Matching;
    const LEVEL: u32 = 1;
}

/// The process's doorbell; it lies in the mapping that `fabric` keeps alive, like the rings.
#[derive(Debug)]
struct DoorbellPointer(*const Doorbell);

// SAFETY: a doorbell is made for many threads.
unsafe impl Send for DoorbellPointer {}
// SAFETY: a doorbell is made for many threads.
unsafe impl Sync for DoorbellPointer {}

impl<S: Rules> Core<S> {
    pub(crate) fn new(
        fabric: &Fabric,
        vni: usize,
        sections: &Arc<Sections>,
        peers: &Arc<Peers<S>>,
        offers: Arc<AtomicUsize>,
        throttle: Arc<Throttle>,
        spreading: &Arc<Spreading<Message>>,
    ) -> Core<S> {
        let process = fabric.clone();
        let wake_sleepers = move || _ = process.own_doorbell().ring(Scope::Machine);
        Core {
            rank: fabric.rank(),
            index: vni,
            doorbell: DoorbellPointer(fabric.own_doorbell()),
            fabric: fabric.clone(),
            arrivals: S::guard(sections, Arrivals { inbox: Inbox::new(fabric, vni) }),
            matching_shards: S::shards(sections, || MatchingShard::new(Arc::clone(&throttle)), wake_sleepers),
            throttle,
            spreading: Arc::clone(spreading),
            rendezvous: S::guard(sections, RendezvousState::default()),
            peers: Arc::clone(peers),
            receive_changes: ReceiveChanges::default(),
            pending: AtomicUsize::new(0),
            backlogged: AtomicUsize::new(0),
            losses: AtomicUsize::new(0),
            offers,
            row: sections.row(vni),
            completed: AtomicUsize::new(0),
        }
    }

    /// The rings that are read.
    #[inline(always)]
    pub(crate) fn arrivals(&self) -> &S::Section<Arrivals> {
        &self.arrivals
    }

    /// The matching shard of a context. Wildcards never cross contexts.
    #[inline(always)]
    pub(crate) fn matching_shard(&self, context: u64) -> &S::Shard<MatchingShard> {
        S::shard(&self.matching_shards, context)
    }

    /// Runs an operation on the rendezvous state.
    pub(crate) fn rendezvous<R>(&self, path: Path, operation: impl FnOnce(&mut RendezvousState) -> R) -> R {
        self.rendezvous.with(path, |rendezvous| self.noting(rendezvous, operation))
    }

    #[inline]
    pub(crate) fn noting<R>(
        &self,
        rendezvous: &mut RendezvousState,
        operation: impl FnOnce(&mut RendezvousState) -> R,
    ) -> R {
        let result = operation(rendezvous);
        // Relaxed: a hint. A thread that must not miss work before it sleeps is told by the
        // doorbell, or had a barrier.
        self.pending.store(rendezvous.pending(), Ordering::Relaxed);
        result
    }

    /// Returns true if there are rendezvous transfers or deferred work.
    #[inline(always)]
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Returns true if messages are queued.
    #[inline(always)]
    pub(crate) fn is_backlogged(&self) -> bool {
        self.backlogged.load(Ordering::Relaxed) != 0
    }

    /// Runs an operation on requests that the program itself completes and frees, and completes the request
    /// that the operation returns.
    pub(crate) fn with_generalized<R>(&self, operation: impl FnOnce() -> (Option<RequestId>, R)) -> R {
        self.rendezvous(Path::Main, |_| {
            let (complete, result) = operation();
            if let Some(id) = complete {
                self.complete(id, Outcome::empty());
            }
            result
        })
    }

    /// Completes a request whose in-flight state the caller has, and wakes its waiting thread.
    #[inline(always)]
    pub(crate) fn complete(&self, id: RequestId, outcome: Outcome) {
        // SAFETY: the request is active, and the caller has its in-flight state.
        let part = unsafe { request::complete(id, outcome) };
        self.completed(part);
    }

    /// The number of operations completed: by this thread if each thread counts separately, otherwise by all.
    #[inline(always)]
    pub(crate) fn completions(&self) -> u64 {
        if S::PARTED { counters::work_here() } else { self.completed.load(Ordering::Relaxed) as u64 }
    }

    /// Counts the completion of a request, which may be a part of a joint request, and
    /// wakes the waiting threads.
    #[inline(always)]
    pub(crate) fn completed(&self, part: Option<PartOver>) {
        if S::PARTED {
            counters::count(CountedEvent::Work, 1);
        } else {
            S::change(&self.completed, 1);
        }
        match part {
            None => self.wake_sleepers(),
            Some(part) => self.part_is_over(part),
        }
    }

    /// Counts the end of a part of a joint request, and wakes its waiting thread after the last.
    #[cold]
    fn part_is_over(&self, part: PartOver) {
        // SAFETY: the part was missing until it was completed.
        unsafe { request::complete_part(part) };
        self.wake_sleepers();
    }

    /// Wakes the sleeping threads of this process: a request was completed, or there is work.
    #[inline(always)]
    pub(crate) fn wake_sleepers(&self) {
        // SAFETY: the doorbell lives as long as the fabric.
        unsafe { &*self.doorbell.0 }.ring(Scope::Machine);
    }

    /// Counts the rendezvous offers whose receivers have not fetched them: one more, or one fewer.
    pub(crate) fn count_offer(&self, id: RequestId, change: isize) {
        // A message that was offered on a lane may be answered on its home.
        let vni = request::vni_of(id) as usize;
        let offers = if vni == self.index { None } else { self.spreading.offers_of(vni) };
        offers.unwrap_or(&self.offers).fetch_add(change.cast_unsigned(), Ordering::Relaxed);
    }

    /// Returns true if no message is queued or streamed.
    pub(crate) fn is_drained(&self) -> bool {
        let queued = self.backlogged.load(Ordering::Relaxed) - usize::from(self.has_losses());
        queued == 0 && self.rendezvous(Path::Progress, |rendezvous| rendezvous.streams.is_empty())
    }

    /// Cancels a posted receive if it was not matched yet.
    pub(crate) fn cancel_receive(&self, id: RequestId) {
        let context = request::context_of(id);
        let unposted = self.matching_shard(context).with(Path::Main, |shard| {
            // SAFETY: the stage of an active receive is written in the critical section of its matching
            // shard, where this thread is.
            let stage = unsafe { request::stage(id) };
            matches!(stage, Stage::Posted(position) if shard.matching.unpost(position, id))
        });
        if unposted {
            self.complete(id, Outcome { cancelled: true, ..Outcome::empty() });
        }
    }
}
