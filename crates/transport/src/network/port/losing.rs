//! Ranks that are lost: what the port had for them is dropped, and its reader is told.

use super::copies::Left;
use super::state::{Arrival, Port, PortState};
use crate::failure::Failure;
use crate::losses::LOST;
use crate::network::connection::Connection;
use crate::slot::{EXTRA_BYTES, Envelope, Header};

impl Port {
    /// Handles the loss of a peer: ends the process, or notes the loss. Then each port
    /// [takes note](Self::note_losses) when it polls next.
    #[cold]
    pub(super) fn miss(&self, peer: u32, host: Option<&str>, why: String) {
        if self.process.losses.contain(peer as usize) {
            return;
        }
        if !(self.process.survives)() {
            self.lose(peer, host, why);
        }
        let failure = Failure::Lost { peer: peer as usize, host: host.map(str::to_owned), why };
        self.process.losses.note(peer as usize, failure.to_string());
    }

    /// The host of a rank with which the port has exchanged packets.
    pub(crate) fn host_of(&self, peer: u32) -> Option<String> {
        self.state().connections.get(&peer).map(|connection| connection.host.to_string())
    }

    /// The ranks with which the port has exchanged packets, without those that are lost or have left.
    pub(crate) fn acquaintances(&self) -> Vec<usize> {
        let state = self.state();
        let is_there = |connection: &Connection| !connection.is_forgotten && !connection.heartbeat.has_left();
        let live = state.connections.iter().filter(|(_, connection)| is_there(connection));
        live.map(|(&peer, _)| peer as usize).collect()
    }

    /// Expects signs of life of a peer from now on.
    pub(crate) fn watch(&self, peer: u32) {
        let mut state = self.state();
        if state.has_lost(peer) || state.connections.contains_key(&peer) {
            return;
        }
        match self.try_connect(&mut state, peer) {
            Ok(connection) => _ = state.connections.insert(peer, connection),
            Err(why) => self.miss(peer, None, why),
        }
    }

    /// Takes note of the ranks that the process has lost since the last call. Returns true if there were
    /// some.
    pub(super) fn note_losses(&self, state: &mut PortState) -> bool {
        if self.process.losses.count() == state.lost.len() {
            return false;
        }
        for peer in self.process.losses.after(state.lost.len()) {
            self.forget(state, peer as u32);
        }
        true
    }

    /// Drops what the port has for a lost rank, and leaves its reader a message behind all that has arrived.
    #[cold]
    fn forget(&self, state: &mut PortState, peer: u32) {
        state.lost.push(peer);
        state.open.retain(|other| *other != peer);
        state.delayed.retain(|other| *other != peer);
        state.creditors.retain(|other| *other != peer);
        let host = state.connections.get(&peer).map(|connection| connection.host.clone());
        match state.copies.forget(peer) {
            Left::Nothing => {}
            Left::Apart => self.stop_reads(state),
            // The provider may write to the program's buffer until the read ends, which may be never. So the
            // receive cannot end either. It has begun before the process chose to survive losses.
            Left::Here => {
                let why = "it was lost while data was read from its memory, which cannot be stopped: the error \
                           handler of MPI_COMM_WORLD was fatal when that began";
                self.lose(peer, host.as_deref(), why.to_owned());
            }
        }
        let unread = state.connections.get_mut(&peer).map(|connection| connection.forget());
        unread.into_iter().flatten().for_each(|index| self.receive_again(state, index));
        let header = Header { kind: LOST, aux: 0, context: 0, envelope: Envelope::new(0, 0) };
        let mut words = [0; EXTRA_BYTES];
        words[..8].copy_from_slice(&u64::from(peer).to_ne_bytes());
        state.arrived.push_back(Arrival::FromHere { header, words });
    }
}

impl PortState {
    /// Returns true if a rank is lost, as far as the port has noted.
    pub(super) fn has_lost(&self, peer: u32) -> bool {
        !self.lost.is_empty() && self.lost.contains(&peer)
    }
}
