//! The receiver's states of messages that are spread.

use super::marks::SpreadMarks;
use super::way::{SpreadBy, may_be_spread};
use crate::mapping::default_vni;
use crate::matching::Key;
use heddle_objects::spread::Stamped;
use heddle_platform::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use heddle_settings::SpreadRule;
use heddle_sync::CachePadded;
use heddle_transport::Fabric;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The receiver's state for a home and a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// Messages are matched on the home.
    Together,
    /// They are matched on their lanes.
    Spread(SpreadBy),
    /// Those with a stamp are held, and matched on the home once they are settled.
    Swept,
}

impl From {
    /// The bits of a state in which messages are matched on lanes, and of the other states.
    const SPREAD: u8 = 2;
    const TOGETHER: u8 = 0;
    const SWEPT: u8 = 1;

    fn bits(self) -> u8 {
        match self {
            From::Together => From::TOGETHER,
            From::Spread(by) => From::SPREAD | by.bit() as u8,
            From::Swept => From::SWEPT,
        }
    }
}

/// The receiver's state of a home; `M` is a message.
#[derive(Debug)]
pub(crate) struct Home<M> {
    marks: Arc<SpreadMarks>,
    /// The state for each rank of this machine. Written by the mover, in the home's critical section.
    from: Box<[AtomicU8]>,
    /// Those that were asked to spread their messages.
    asked: Box<[AtomicBool]>,
    /// The first of these ranks.
    first: usize,
    held: Mutex<Vec<Stamped<Held<M>>>>,
    /// The number of rendezvous offers of the VNI.
    offers: OnceLock<Arc<AtomicUsize>>,
}

/// A message with a stamp that is held.
#[derive(Debug)]
pub(crate) struct Held<M> {
    pub(crate) key: Key,
    pub(crate) message: M,
    /// It was unexpected on its lane, and counted.
    pub(crate) was_unexpected: bool,
}

/// The state of messages that are spread, which the VNIs of a process share.
#[derive(Debug)]
pub struct Spreading<M> {
    rule: SpreadRule,
    /// There was a wildcard on some home. Set before that home's mark, and so before the lanes are swept.
    is_any_gathered: AtomicBool,
    homes: Box<[CachePadded<Home<M>>]>,
}

impl<M> Spreading<M> {
    /// Messages that are never spread.
    pub fn never() -> Spreading<M> {
        Spreading::over(SpreadRule::Never, Box::default())
    }

    /// Messages that are spread by a rule, if that is possible: among processes of one machine, if it has a
    /// clock that all its threads share, and if there are lanes.
    pub fn by(rule: SpreadRule, fabric: &Fabric) -> Spreading<M> {
        let Some(ranks) = fabric.local_ranks().range() else { return Spreading::never() };
        if rule == SpreadRule::Never || fabric.vnis() < 2 || !super::stamp::is_shared() {
            return Spreading::never();
        }
        let home = || {
            CachePadded::new(Home {
                marks: Arc::new(SpreadMarks::new(rule)),
                asked: ranks.clone().map(|_| AtomicBool::new(false)).collect(),
                from: ranks.clone().map(|_| AtomicU8::new(From::TOGETHER)).collect(),
                first: ranks.start as usize,
                held: Mutex::default(),
                offers: OnceLock::new(),
            })
        };
        Spreading::over(rule, (0..fabric.vnis()).map(|_| home()).collect())
    }

    fn over(rule: SpreadRule, homes: Box<[CachePadded<Home<M>>]>) -> Spreading<M> {
        Spreading { rule, is_any_gathered: AtomicBool::new(false), homes }
    }

    /// The rule.
    pub(crate) fn rule(&self) -> SpreadRule {
        self.rule
    }

    /// The state of a home.
    pub(crate) fn home(&self, number: usize) -> Option<&Home<M>> {
        self.homes.get(number).map(|home| &**home)
    }

    /// The marks of a VNI, which counts its rendezvous offers in `offers`.
    pub(crate) fn join(&self, vni: usize, offers: &Arc<AtomicUsize>) -> Arc<SpreadMarks> {
        let Some(home) = self.home(vni) else { return Arc::new(SpreadMarks::new(SpreadRule::Never)) };
        home.offers.get_or_init(|| Arc::clone(offers));
        Arc::clone(&home.marks)
    }

    /// The number of a message's home, if it may be spread.
    pub(crate) fn home_of(&self, context: u64) -> Option<SpreadHome> {
        let may_be = !self.homes.is_empty() && may_be_spread(context);
        may_be.then(|| SpreadHome(default_vni(context, self.homes.len()) as usize))
    }

    /// The count of rendezvous offers of a VNI.
    pub(crate) fn offers_of(&self, vni: usize) -> Option<&AtomicUsize> {
        self.home(vni)?.offers.get().map(|offers| &**offers)
    }

    /// Notes that a home is gathered from now on. Called by the mover, in the home's critical section.
    pub(crate) fn gather(&self, home: &Home<M>) {
        self.is_any_gathered.store(true, Ordering::Relaxed);
        home.marks.set_gathered();
    }

    /// Returns true if a message with a stamp may have to be [held](Self::hold).
    #[inline(always)]
    pub(crate) fn may_hold(&self) -> bool {
        // Relaxed: the critical section of the lane orders it. Before the mover has swept the lane there, a
        // message may go to the lane as well.
        self.is_any_gathered.load(Ordering::Relaxed)
    }

    /// Holds a message with a stamp that a peer has sent on VNI `vni`, instead of matching it there, and
    /// returns its home; `None` if it is to be matched there. Called inside of that VNI's critical section.
    pub(crate) fn hold(
        &self,
        vni: usize,
        (stamp, key): (u64, Key),
        message: impl FnOnce() -> M,
        peer: usize,
    ) -> Option<SpreadHome> {
        let number = self.home_of(key.context)?;
        let home = self.home(number.0)?;
        let holds = home.marks.is_gathered() && (vni != number.0 || home.from(peer) != From::Together);
        if !holds {
            return None;
        }
        home.held().push(Stamped { stamp, message: Held { key, message: message(), was_unexpected: false } });
        Some(number)
    }
}

impl<M> Home<M> {
    pub(crate) fn marks(&self) -> &SpreadMarks {
        &self.marks
    }

    pub(crate) fn from(&self, peer: usize) -> From {
        match self.bits(peer) {
            From::TOGETHER => From::Together,
            From::SWEPT => From::Swept,
            bits => From::Spread(SpreadBy::of_bit(u64::from(bits))),
        }
    }

    /// By what messages of a peer are spread, if they are matched on lanes.
    #[inline(always)]
    pub(crate) fn spread_by(&self, peer: usize) -> Option<SpreadBy> {
        let bits = self.bits(peer);
        (bits & From::SPREAD != 0).then(|| SpreadBy::of_bit(u64::from(bits)))
    }

    #[inline(always)]
    fn bits(&self, peer: usize) -> u8 {
        self.state(peer).map_or(From::TOGETHER, |state| state.load(Ordering::Acquire))
    }

    /// Returns true if a peer may be asked to spread its messages, and was not asked before.
    pub(crate) fn may_ask(&self, peer: usize) -> bool {
        let asked = self.asked.get(peer.wrapping_sub(self.first));
        // Relaxed: a thread that notes that it asks does so.
        !self.marks.is_gathered()
            && self.from(peer) == From::Together
            && asked.is_some_and(|asked| !asked.load(Ordering::Relaxed))
    }

    /// Notes that a thread asks such a peer. Returns false if another one does.
    pub(crate) fn asks(&self, peer: usize) -> bool {
        let asked = self.asked.get(peer.wrapping_sub(self.first)).filter(|_| self.may_ask(peer));
        asked.is_some_and(|asked| !asked.swap(true, Ordering::Relaxed))
    }

    /// Called by the mover, in the home's critical section.
    pub(crate) fn set_from(&self, peer: usize, from: From) {
        if let Some(state) = self.state(peer) {
            // Release: pairs with the Acquire in `bits`.
            state.store(from.bits(), Ordering::Release);
        }
        self.marks.set_elsewhere(!self.spread_peers().is_empty());
    }

    /// The peers whose messages are matched on lanes.
    pub(crate) fn spread_peers(&self) -> Vec<usize> {
        let ranks = self.first..self.first + self.from.len();
        ranks.filter(|peer| self.spread_by(*peer).is_some()).collect()
    }

    fn state(&self, peer: usize) -> Option<&AtomicU8> {
        self.from.get(peer.wrapping_sub(self.first))
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, Vec<Stamped<Held<M>>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpreadHome(pub(crate) usize);
