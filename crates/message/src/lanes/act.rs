//! Acts on what a thread has read in a ring: outside of all critical sections, since they move messages
//! between VNIs.

use super::{gather, incoming, outgoing};
use crate::spread::{SpreadBy, SpreadEvent};
use crate::vni::Vni;
use crate::vni::core::Core;
use crate::vni::ring_access::Rules;
use crate::vni::wire;
use heddle_model::Path;
use heddle_transport::Incoming;

impl<S: Rules> Core<S> {
    /// Says something of messages that are spread.
    #[cold]
    pub(super) fn send_spread_notice(&self, peer: usize, kind: u8) {
        self.send_control(peer, kind, wire::to_bytes([0; 3]));
    }

    /// Says by what messages are spread, or are to be.
    #[cold]
    pub(super) fn send_spread_by(&self, peer: usize, kind: u8, by: SpreadBy) {
        self.send_control(peer, kind, wire::to_bytes([by.bit(), 0, 0]));
    }

    /// Notes news, for the thread that acts on them.
    #[cold]
    pub(crate) fn note_spread_event(&self, event: SpreadEvent) {
        self.rendezvous(Path::Progress, |rendezvous| {
            if !rendezvous.spread_events.contains(&event) {
                rendezvous.spread_events.push_back(event);
            }
        });
    }

    /// Notes what a peer says of its or my messages.
    #[cold]
    pub(crate) fn spread_notice_arrives(&self, peer: usize, message: &Incoming) {
        let [by, ..] = wire::from_bytes(message.payload());
        let by = SpreadBy::of_bit(by);
        self.note_spread_event(match message.header.kind {
            wire::SPREAD => SpreadEvent::Begun(peer, by),
            wire::GATHER => SpreadEvent::Wanted(peer),
            wire::GATHERED => SpreadEvent::Returned(peer),
            wire::ASK => SpreadEvent::Asked(peer, by),
            _ => SpreadEvent::Released(peer),
        });
    }
}

impl Vni {
    /// Acts on news, in no critical section.
    #[cold]
    pub(crate) fn act_on(&self, event: SpreadEvent) {
        match event {
            SpreadEvent::Asked(peer, by) => self.spread_to(peer, by),
            SpreadEvent::Begun(peer, by) => incoming::begin(self, peer, by),
            SpreadEvent::Wanted(peer) => outgoing::leave_lanes(self, peer),
            SpreadEvent::Returned(peer) => gather::end(self, peer),
            SpreadEvent::Released(peer) => outgoing::end_stamps(self, peer),
            SpreadEvent::Held(home) => gather::settle_held(self, home),
            SpreadEvent::Withdrawn { peer, key, sender } => gather::withdraw(self, peer, &key, sender),
        }
    }
}
