//! Acts on what a thread has read in a ring: outside of all critical sections, since they move messages
//! between VNIs.

use super::{gather, incoming, outgoing};
use crate::spread::SpreadEvent;
use crate::vni::Vni;
use crate::vni::core::Core;
use crate::vni::ring_access::Rules;
use crate::vni::wire;
use heddle_model::Path;

impl<S: Rules> Core<S> {
    /// Says something of messages that are spread.
    #[cold]
    pub(super) fn send_spread_notice(&self, peer: usize, kind: u8) {
        self.send_control(peer, kind, wire::to_bytes([0; 3]));
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
    pub(crate) fn spread_notice_arrives(&self, peer: usize, kind: u8) {
        self.note_spread_event(match kind {
            wire::SPREAD => SpreadEvent::Begun(peer),
            wire::GATHER => SpreadEvent::Wanted(peer),
            wire::GATHERED => SpreadEvent::Returned(peer),
            wire::ASK => SpreadEvent::Asked(peer),
            _ => SpreadEvent::Released(peer),
        });
    }
}

impl Vni {
    /// Acts on news, in no critical section.
    #[cold]
    pub(crate) fn act_on(&self, event: SpreadEvent) {
        match event {
            SpreadEvent::Asked(peer) => self.spread_to(peer),
            SpreadEvent::Begun(peer) => incoming::begin(self, peer),
            SpreadEvent::Wanted(peer) => outgoing::leave_lanes(self, peer),
            SpreadEvent::Returned(peer) => gather::end(self, peer),
            SpreadEvent::Released(peer) => outgoing::end_stamps(self, peer),
            SpreadEvent::Held(home) => gather::settle_held(self, home),
            SpreadEvent::Withdrawn { peer, key, sender } => gather::withdraw(self, peer, &key, sender),
        }
    }
}
