//! Signs of life to peers and from them, at intervals (see `heartbeat.rs`).

use super::state::{Port, PortState};
use crate::network::buffers::RECEIVES;
use crate::network::connection::BufferedPacket;
use crate::network::heartbeat::Beat;
use crate::network::packet::LABEL_BYTES;
use heddle_platform::atomic::Ordering;
use std::time::Duration;

impl Port {
    /// Gives signs of life to the peers that need some, and misses a peer that was silent for `timeout`. A
    /// port that leaves the network only tells those peers that do not know it.
    pub(in crate::network) fn beat(&self, timeout: Duration) {
        let leaves = self.leaves.load(Ordering::Relaxed);
        let mut state = self.state();
        // A port whose buffers are all full of messages that nobody reads hears nothing.
        let listens = state.held < RECEIVES;
        self.poll(&mut state);
        let peers: Vec<u32> = state.connections.keys().copied().collect();
        for peer in peers {
            let Some(connection) = state.connections.get_mut(&peer) else { continue };
            if connection.is_forgotten {
                continue;
            }
            if leaves {
                self.tell_departure(&mut state, peer);
                continue;
            }
            match connection.heartbeat.beat(listens) {
                Beat::Nothing => {}
                Beat::Send => _ = self.send_empty(&mut state, peer),
                Beat::Lost => self.miss(
                    peer,
                    Some(&connection.host),
                    format!(
                        "it was silent for {} s (HEDDLE_PEER_TIMEOUT): its process or machine has ended or stands \
                         still, or the link is cut",
                        timeout.as_secs()
                    ),
                ),
            }
        }
        self.note_losses(&mut state);
    }

    /// Tells all peers that this process leaves the network, and expects no signs of life any more; or that
    /// it is there again, which they see by its next message.
    pub(in crate::network) fn set_leaves(&self, leaves: bool) {
        self.leaves.store(leaves, Ordering::Relaxed);
        let mut state = self.state();
        let peers: Vec<u32> = state.connections.keys().copied().collect();
        for peer in peers {
            if leaves {
                self.tell_departure(&mut state, peer);
            } else {
                self.connection(&mut state, peer).knows_departure = false;
            }
        }
    }

    fn tell_departure(&self, state: &mut PortState, peer: u32) {
        if !self.connection(state, peer).knows_departure && self.send_empty(state, peer) {
            self.connection(state, peer).knows_departure = true;
        }
    }

    /// Sends a packet without a message. Returns false and does nothing if no buffer is free, or if the peer
    /// is lost.
    pub(super) fn send_empty(&self, state: &mut PortState, peer: u32) -> bool {
        let connection = self.connection(state, peer);
        if connection.is_forgotten {
            return false;
        }
        let Some(index) = connection.free.pop() else { return false };
        let place = connection.buffers.place(index as usize);
        self.write_label(connection, place, None);
        self.post(state, peer, BufferedPacket { index, len: LABEL_BYTES as u32 });
        true
    }
}
