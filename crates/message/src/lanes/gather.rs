//! The receiver, from the first wildcard on: messages move home, in an order that none of them contradicts.

use super::home::HomeAndLanes;
use crate::matching::Key;
use crate::request::RequestId;
use crate::spread::{From, Held, SpreadEvent, SpreadHome};
use crate::vni::core::Core;
use crate::vni::step::{Entry, POLL_BUDGET};
use crate::vni::{Message, Vni, wire};
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf, Whole};
use heddle_objects::resharding::{Moved, Mover};
use heddle_objects::spread::{Stamped, settle};

/// Moves all receives and messages of a home there, and keeps them there for good.
#[cold]
pub(super) fn gather(home: &HomeAndLanes<'_>) {
    let mover = Mover::wait();
    if home.marks().is_gathered() {
        return;
    }
    let mut has_lanes = false;
    home.vni().whole().with_lock(Path::Main, |core| {
        let peers = home.spread_peers();
        // First of all: a thread that receives on a lane must not overtake what is held from then on.
        peers.iter().for_each(|peer| home.set_from(*peer, From::Swept));
        home.vni().spreading.gather(home);
        counters::count(CountedEvent::VniGathered, 1);
        core.matching_shard(0).with(Path::Main, |shard| shard.matching.watch(false));
        // A peer may have sent to lanes, and this rank has not read its notice yet: that moves when it is
        // read.
        has_lanes = !peers.is_empty();
        if has_lanes {
            move_home(core, home);
        }
        peers.into_iter().for_each(|peer| core.send_spread_notice(peer, wire::GATHER));
    });
    if has_lanes {
        settle_home(&mover, home);
    }
}

/// Moves what is in the lanes home: receives are posted there, messages are held.
pub(super) fn move_home(core: &Core<Whole>, home: &HomeAndLanes<'_>) {
    for lane in home.lanes() {
        let moved = home.vnis()[lane as usize].whole().with_lock(Path::Main, |core| core.leave_lane(home));
        moved.posted.into_iter().for_each(|(key, id)| core.post_moved(key, id));
        let held =
            |(stamp, key, message)| Stamped { stamp, message: Held { key, message, was_unexpected: true } };
        home.held().extend(moved.unexpected.into_iter().map(held));
    }
}

/// Moves held messages home that are settled.
pub(super) fn settle_home(_mover: &Mover, home: &HomeAndLanes<'_>) {
    let look = |held: &mut Vec<_>| {
        home.vnis().iter().for_each(Vni::read_rings);
        held.append(&mut home.held());
    };
    let mut held = std::mem::take(&mut *home.held());
    let settled = settle(&mut held, look);
    let is_rest = !held.is_empty();
    home.held().append(&mut held);
    home.vni().whole().with_lock(Path::Main, |core| {
        core.come_home(settled);
        if is_rest {
            core.note_spread_event(SpreadEvent::Held(home.number()));
        }
    });
}

/// A message is held for a home.
pub(super) fn settle_held(vni: &Vni, home: SpreadHome) {
    let mover = Mover::wait();
    if let Some(home) = vni.home_of(home) {
        settle_home(&mover, &home);
    }
}

/// The peer wants a message back that was on this lane: if it is not there, it may have moved home.
pub(super) fn withdraw(vni: &Vni, peer: usize, key: &Key, sender: u64) {
    let mover = Mover::wait();
    let home = vni.spreading.home_of(key.context).and_then(|home| vni.home_of(home));
    let Some(home) = home else { return };
    if home.marks().is_gathered() {
        settle_home(&mover, &home);
    }
    home.vni().whole().with_lock(Path::Main, |core| core.withdraw_at_home(peer, key, sender));
}

/// The peer has left the lanes: what is there is settled, and what follows comes home in order.
pub(super) fn end(vni: &Vni, peer: usize) {
    let mover = Mover::wait();
    let Some(home) = vni.home() else { return };
    if home.from(peer) != From::Swept {
        return;
    }
    // More than this peer's may be held, and what is not settled yet. This peer's is settled at once: when
    // the look began, all of it was in the lanes, or comes in the home's ring.
    settle_home(&mover, &home);
    vni.whole().with_lock(Path::Main, |core| {
        let mut held = home.held();
        let mut last: Vec<_> = held.extract_if(.., |held| held.message.message.peer == peer).collect();
        drop(held);
        last.sort_by_key(|held| held.stamp);
        core.come_home(last);
        home.set_from(peer, From::Together);
        core.send_spread_notice(peer, wire::UNSTAMPED);
    });
}

impl Core<Whole> {
    /// Takes what belongs to a home out of this lane.
    fn leave_lane(&self, home: &HomeAndLanes<'_>) -> Moved<Key, Message> {
        let is_posted = |key: &Key, _: RequestId| home.has(key.context);
        self.take_out_if(is_posted, |key, _| home.has(key.context))
    }

    /// Matches or stores messages that come home.
    fn come_home(&self, messages: Vec<Stamped<Held<Message>>>) {
        for Stamped { message: Held { key, message, was_unexpected }, .. } in messages {
            self.match_moved(
                key,
                message,
                |shard, message| {
                    if was_unexpected {
                        shard.keep_moved(key, message, None);
                        shard.probers.tell(|wanted| wanted.wants(&key));
                    } else {
                        shard.store(key, message);
                    }
                },
                was_unexpected,
            );
        }
        self.wake_sleepers();
    }
}

impl Vni {
    /// Reads all that is in the rings of this VNI when the call begins.
    fn read_rings(&self) {
        self.whole().with_lock(Path::Main, |core| {
            let rounds = 1 + core.fabric.ring_cells() / POLL_BUDGET;
            let _ = (0..rounds).all(|_| core.poll(Entry::Wait));
        });
    }
}
