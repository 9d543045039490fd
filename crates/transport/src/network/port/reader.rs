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

use crate::network::late::Latecomers;
use heddle_libfabric::{Address, Endpoint, EndpointObjects};
use std::collections::HashMap;

/// The endpoint, and its peers.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) endpoint: Endpoint,
    peers: HashMap<u32, Address>,
}

impl Reader {
    /// Opens one beside the port's own endpoint. Returns `None` if there is no room for it.
    pub(super) fn open(own: &Endpoint, late: Option<&Latecomers>) -> Option<Reader> {
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

    /// Stops all reads. What is left may go once their registrations have ended.
    pub(super) fn stop(self) -> EndpointObjects {
        self.endpoint.stop()
    }
}
