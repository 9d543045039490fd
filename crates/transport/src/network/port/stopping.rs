//! Remote reads by the endpoint that can be closed (`reader.rs`): their progress, and how they are stopped.

use super::copies::Ended;
use super::reader::Reader;
use super::state::{Arrival, Port, PortState};
use crate::failure::Failure;
use crate::network::buffers::Owner;

impl Port {
    /// Opens the endpoint for reads that can be stopped, if it is not there. Returns false if that fails.
    pub(super) fn open_reader(&self, state: &mut PortState) -> bool {
        let PortState { reader, endpoint, .. } = state;
        if reader.is_none() {
            *reader = Reader::open(endpoint, self.process.late.as_deref());
        }
        reader.is_some()
    }

    /// Makes progress with the reads that can be stopped. Returns how many completions there were.
    pub(super) fn poll_reader(&self, state: &mut PortState) -> usize {
        let Some(reader) = &mut state.reader else { return 0 };
        let (mut read, mut lost) = (Vec::new(), None);
        let happened = reader
            .endpoint
            .poll(|done| read.push(Owner::of(done.context).index), |operation| lost = Some(operation));
        read.into_iter().for_each(|index| self.part_has_ended(state, index, None));
        match lost {
            Some(operation) if operation.context.is_null() => {
                self.failed_without_peer(state, None, operation.reason);
            }
            Some(operation) => {
                self.part_has_ended(state, Owner::of(operation.context).index, Some(operation.reason));
            }
            None => {}
        }
        happened
    }

    /// Handles the end of the read of a part, or the reason for which it has failed.
    pub(super) fn part_has_ended(&self, state: &mut PortState, index: u32, failed: Option<String>) {
        let peer = state.copies.peer(index);
        if failed.is_none()
            && let Some(connection) = peer.and_then(|peer| state.connections.get_mut(&peer))
        {
            connection.heartbeat.heard(false, true);
        }
        match state.copies.part_has_ended(index, failed) {
            Some(Ended::Done((header, words))) => {
                state.arrived.push_back(Arrival::FromHere { header, words });
            }
            Some(Ended::Failed(peer, why)) => self.not_copied(state, peer, why),
            None => {}
        }
    }

    /// Stops the reads that can be stopped, and begins those again whose peers are not lost.
    #[cold]
    pub(super) fn stop_reads(&self, state: &mut PortState) {
        let Some(reader) = state.reader.take() else { return };
        // From here on the provider has none of them. Their registrations end before their domain.
        let objects = reader.stop();
        let stopped = state.copies.take_apart();
        drop(objects);
        for copy in stopped {
            // SAFETY: whoever has asked for the data leaves the memory to the port until it is there, or its
            // peer is lost.
            let begins = state.has_lost(copy.peer as u32) || unsafe { self.begin(state, copy, true) };
            if !begins {
                let why = "data that was being read cannot be read once more".to_owned();
                (self.process.fail)(&Failure::Network { why });
            }
        }
    }
}
