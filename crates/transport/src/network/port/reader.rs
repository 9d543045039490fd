//! The endpoint for remote reads that can be stopped.
//!
//! A process that goes on without a lost rank has to end the receives whose data it was reading from that
//! rank's memory. Their buffers are the program's again then, so the provider must not write to them any
//! more; but a read from a rank that is only silent may end at any time, or never, and providers of
//! connections (`net`, `tcp`, `verbs`) cancel no reads (`fi_cancel`). To close an endpoint discards all its
//! operations, whatever the provider. So such a process reads through an endpoint that it uses for nothing
//! else. If a rank is lost whose memory is being read, the endpoint is closed before the receive ends, and
//! the reads from other ranks begin again, through another endpoint.
//!
//! Nobody sends to this endpoint: its peers answer reads by the endpoints of their ports. It costs a
//! connection to each rank that long data is read from, and each poll of the port polls it, too. Hence
//! processes that end with a lost rank read by the port's own endpoint, and have none.

use super::fetches::Ended;
use super::owner;
use super::state::{Arrival, Port, State};
use crate::failure::Failure;
use crate::network::late::Latecomers;
use heddle_libfabric::{Address, Endpoint, Objects};
use std::collections::HashMap;

/// The endpoint, and its peers.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) endpoint: Endpoint,
    peers: HashMap<u32, Address>,
}

impl Reader {
    /// Opens one beside the port's own endpoint. Returns `None` if there is no room for it.
    fn open(own: &Endpoint, late: Option<&Latecomers>) -> Option<Reader> {
        let endpoint = own.another().ok()?;
        if let Some((late, descriptor)) = late.zip(endpoint.wait_descriptor()) {
            late.add(descriptor).ok()?;
        }
        Some(Reader { endpoint, peers: HashMap::new() })
    }

    /// The address of the peer with this name.
    pub(super) fn address(&mut self, peer: u32, name: &[u8]) -> Result<Address, String> {
        if let Some(address) = self.peers.get(&peer) {
            return Ok(*address);
        }
        let address = self.endpoint.insert(name).map_err(|error| error.to_string())?;
        self.peers.insert(peer, address);
        Ok(address)
    }

    fn stop(self) -> Objects {
        self.endpoint.stop()
    }
}

impl Port {
    /// Opens the endpoint for reads that can be stopped, if it is not there. Returns false if that fails.
    pub(super) fn open_reader(&self, state: &mut State) -> bool {
        let State { reader, endpoint, .. } = state;
        if reader.is_none() {
            *reader = Reader::open(endpoint, self.process.late.as_deref());
        }
        reader.is_some()
    }

    /// Makes progress with the reads that can be stopped. Returns how many completions there were.
    pub(super) fn poll_reader(&self, state: &mut State) -> usize {
        let Some(reader) = &mut state.reader else { return 0 };
        let (mut read, mut lost) = (Vec::new(), None);
        let happened = reader
            .endpoint
            .poll(|done| read.push(owner(done.context).index), |operation| lost = Some(operation));
        read.into_iter().for_each(|index| self.part_has_ended(state, index, None));
        match lost {
            Some(operation) if operation.context.is_null() => {
                (self.process.fail)(&Failure::Network { why: operation.reason })
            }
            Some(operation) => {
                self.part_has_ended(state, owner(operation.context).index, Some(operation.reason));
            }
            None => {}
        }
        happened
    }

    /// Handles the end of the read of a part, or the reason for which it has failed.
    pub(super) fn part_has_ended(&self, state: &mut State, index: u32, failed: Option<String>) {
        let peer = state.fetches.peer(index);
        if failed.is_none()
            && let Some(connection) = peer.and_then(|peer| state.connections.get_mut(&peer))
        {
            connection.heartbeat.heard(false, true);
        }
        match state.fetches.part_has_ended(index, failed) {
            Some(Ended::Done((header, words))) => {
                state.arrived.push_back(Arrival::FromHere { header, words });
            }
            Some(Ended::Failed(peer, why)) => self.not_read(state, peer, why),
            None => {}
        }
    }

    /// Stops the reads that can be stopped, and begins those again whose peers are not lost.
    #[cold]
    pub(super) fn stop_reads(&self, state: &mut State) {
        let Some(reader) = state.reader.take() else { return };
        // From here on the provider has none of them. Their registrations end before their domain.
        let objects = reader.stop();
        let stopped = state.fetches.take_apart();
        drop(objects);
        for fetch in stopped {
            // SAFETY: whoever has asked for the data leaves the memory to the port until it is there, or its
            // peer is lost.
            let begins = state.has_lost(fetch.peer as u32) || unsafe { self.begin(state, fetch, true) };
            if !begins {
                let why = "data that was being read cannot be read once more".to_owned();
                (self.process.fail)(&Failure::Network { why });
            }
        }
    }
}
