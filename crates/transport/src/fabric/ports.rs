//! A process's ports to ranks on other machines, as the protocols above use them.

use super::Fabric;
use crate::error::TransportError;
use crate::geometry;
use crate::network::{self, Exposed, Lasts, OneSided, Port, RemoteCopy, Strangers};
use std::sync::Arc;

impl Fabric {
    /// The host of a rank with which this process has exchanged messages through the network.
    pub(crate) fn host_of(&self, rank: usize) -> Option<String> {
        let ports = self.ports.as_ref()?;
        (0..self.vnis).find_map(|vni| ports.port(vni).host_of(rank as u32))
    }

    /// The ranks of this machine, and those of others with which a VNI has exchanged messages.
    pub fn acquaintances(&self, vni: usize) -> Vec<usize> {
        let far = self.port(vni).map(|port| port.acquaintances()).unwrap_or_default();
        let local = (0..self.local.len()).map(|index| self.local.rank(index) as usize);
        local.filter(|rank| *rank != self.rank).chain(far).collect()
    }

    /// The port of a VNI, if there are ranks on other machines.
    pub(crate) fn port(&self, vni: usize) -> Option<&Arc<Port>> {
        self.ports.as_ref().map(|ports| ports.port(vni))
    }

    /// The most bytes of one message to a rank.
    pub fn longest_payload(&self, peer: usize) -> usize {
        if self.is_local(peer) { geometry::LONGEST_PAYLOAD } else { network::LONGEST_PAYLOAD }
    }

    /// Lets a rank on another machine read memory by a port of this process. Returns `None` if the rank is on
    /// this machine, or the network has no remote reads.
    ///
    /// # Safety
    /// The `len` bytes at `start` live longer than the result.
    pub unsafe fn expose(&self, (vni, peer): (usize, usize), start: *mut u8, len: usize) -> Option<Exposed> {
        let port = self.port(vni).filter(|_| !self.is_local(peer))?;
        // SAFETY: by the caller's promise.
        unsafe { port.expose(start, len, Lasts::Shortly) }
    }

    /// Copies data from memory that a rank on another machine has exposed to this VNI, or there. When all is
    /// copied, a message from this process to itself arrives in the VNI. Returns false and does nothing if
    /// the data has to be sent in messages.
    ///
    /// # Safety
    /// The memory of this process is valid, and nobody else uses it until the message arrives.
    pub unsafe fn copy(&self, vni: usize, copy: RemoteCopy) -> bool {
        let Some(port) = self.port(vni).filter(|_| !self.is_local(copy.peer)) else { return false };
        // SAFETY: by the caller's promise.
        unsafe { port.copy(copy, true) }
    }

    /// The port for one-sided operations between machines, opened by the first call, which no other call is
    /// beside.
    ///
    /// # Errors
    /// That of the network; that there is none.
    pub fn one_sided(&self) -> Result<Arc<OneSided>, TransportError> {
        let ports = self.ports.as_ref().ok_or(TransportError::NoNetwork { rank: self.rank })?;
        ports.one_sided().cloned()
    }

    /// Lets a message from another machine ring this process's doorbell, for a thread that is about to sleep.
    /// Returns true if there is something to do already.
    pub fn has_work_from_network(&self) -> bool {
        self.ports.as_ref().is_some_and(|ports| !ports.arm())
    }

    /// Tells the ranks on other machines that this process leaves the network and expects no signs of life of
    /// them any more; or, with `false`, that it is there again.
    pub fn set_leaves_network(&self, leaves: bool) {
        if let Some(ports) = &self.ports {
            ports.set_leaves(leaves);
        }
    }

    /// Returns true if the network has taken everything that was sent.
    pub fn is_network_drained(&self) -> bool {
        self.ports.as_ref().is_none_or(|ports| ports.are_drained())
    }

    /// The number of packets and connections that came from processes which do not belong to the job.
    pub fn strangers(&self) -> Strangers {
        self.ports.as_ref().map_or_else(Strangers::default, |ports| ports.strangers())
    }
}
