//! The receiver, until the first wildcard: receives and messages move from their home to the lanes.

use super::gather;
use super::home::HomeAndLanes;
use crate::losses;
use crate::matching::Key;
use crate::request::{self, RequestId};
use crate::spread::{From, SpreadBy, are_turns, may_be_spread};
use crate::vni::core::{Core, MatchingShard};
use crate::vni::{Message, Vni, wire};
use heddle_model::counters::cores_for_threads;
use heddle_model::{Path, SectionOf, Whole};
use heddle_objects::resharding::{Moved, Mover};

/// The peer says that it spreads its messages: they are matched on their lanes from now on, or swept.
pub(super) fn begin(vni: &Vni, peer: usize, by: SpreadBy) {
    let mover = Mover::wait();
    let Some(home) = vni.home() else { return };
    if home.from(peer) != From::Together {
        return;
    }
    home.use_lanes();
    vni.whole().with_lock(Path::Main, |core| {
        if home.marks().is_gathered() {
            home.set_from(peer, From::Swept);
            gather::move_home(core, &home);
            core.send_spread_notice(peer, wire::GATHER);
            return;
        }
        let mut moved = core.take_out_of(&home, peer);
        for lane in home.lanes() {
            let is_there = |key: &Key| home.lane(by, key.envelope).number() == lane;
            let posted = moved.posted.extract_if(.., |(key, _)| is_there(key)).collect();
            let unexpected = moved.unexpected.extract_if(.., |(_, key, _)| is_there(key)).collect();
            home.vnis()[lane as usize].whole().with_lock(Path::Main, |on_lane| {
                on_lane.take_over(&home, peer, Moved { posted, unexpected });
            });
        }
        core.matching_shard(0).with(Path::Main, |shard| shard.matching.watch(true));
        home.set_from(peer, From::Spread(by));
    });
    if home.marks().is_gathered() {
        gather::settle_home(&mover, &home);
    }
}

impl Core<Whole> {
    /// Takes out the receives from a peer and its messages that belong to a home, and may be spread.
    pub(super) fn take_out_of(&self, home: &HomeAndLanes<'_>, peer: usize) -> Moved<Key, Message> {
        let is_from_peer = |key: &Key, id: RequestId| {
            home.has(key.context)
                && key.shape() == 0
                && losses::sender(request::comm_word(id), key) == Some(peer)
        };
        let is_of_peer = |key: &Key, message: &Message| home.has(key.context) && message.peer == peer;
        self.take_out_if(is_from_peer, is_of_peer)
    }

    /// Takes over what was on the home, on this lane. Messages that came to the lane already are younger.
    fn take_over(&self, home: &HomeAndLanes<'_>, peer: usize, older: Moved<Key, Message>) {
        let is_of_peer = |key: &Key, message: &Message| home.has(key.context) && message.peer == peer;
        let early = self.take_out_if(|_, _| false, is_of_peer).unexpected;
        self.matching_shard(0).with(Path::Main, |shard| {
            // Their numbers order those of all lanes, and are lower than any stamp: cycles pass faster.
            for (stamp, key, message) in older.unexpected {
                shard.keep_moved(key, message, Some(stamp));
            }
        });
        for (key, id) in older.posted {
            self.post_moved(key, id);
        }
        for (stamp, key, message) in early {
            let store = |shard: &mut MatchingShard, message| shard.keep_moved(key, message, Some(stamp));
            self.match_moved(key, message, store, true);
        }
    }
}

impl Vni {
    /// The tags or sources of receives change. If threads on several cores take turns in issuing them, asks
    /// the sender of a message with this key to spread its messages. `comm` is the handle of the
    /// communicator.
    #[cold]
    pub(crate) fn receives_change(&self, comm: usize, key: &Key, by: SpreadBy) {
        if are_turns(self.whole().hand_overs(), cores_for_threads) {
            self.ask_to_spread(comm, key, by);
        }
    }

    pub(super) fn ask_to_spread(&self, comm: usize, key: &Key, by: SpreadBy) {
        let (Some(home), Some(peer)) = (self.home(), losses::sender(comm, key)) else { return };
        if !home.may_ask(peer) {
            return;
        }
        self.whole().with_lock(Path::Main, |core| {
            let may_ask = may_be_spread(key.context) && core.fabric.takes_spread_messages(peer);
            if may_ask && peer != self.rank && home.asks(peer) {
                core.send_spread_by(peer, wire::ASK, by);
            }
        });
    }

    /// Receives on the lane of the message, or on this home; before a receive with wildcards all messages
    /// move home.
    #[cold]
    pub(crate) fn receive_by_lane(&self, id: RequestId, key: Key) {
        let here = |core: &mut Core<Whole>| {
            request::set_vni(id, core.index as u32);
            core.receive_here(id, key);
        };
        let Some(home) = self.home() else { return self.whole().with_lock(Path::Main, here) };
        if key.shape() != 0 {
            gather::gather(&home);
            return self.whole().with_lock(Path::Main, here);
        }
        let peer = losses::sender(request::comm_word(id), &key);
        loop {
            let by = peer.and_then(|peer| home.spread_by(peer));
            let on = by.map_or(self, |by| home.lane(by, key.envelope));
            let done = on.whole().with_lock(Path::Main, |core| {
                let holds = peer.and_then(|peer| home.spread_by(peer)) == by;
                if holds {
                    here(core);
                }
                holds
            });
            if done {
                return;
            }
        }
    }

    /// Moves all messages home before a probe.
    #[inline]
    pub fn gather_for_probe(&self, context: u64) {
        if !self.spread_marks.is_gathered()
            && may_be_spread(context)
            && let Some(home) = self.home()
        {
            gather::gather(&home);
        }
    }
}
