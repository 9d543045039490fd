//! Remote copies: the data of a long message goes straight from its sender's memory to its receiver's, and
//! that of a long put or get of a window straight to its target's memory, or from there.
//!
//! ```text
//!   sender                             receiver
//!   expose: the provider gives a key
//!     ── message with address, key ─────▶
//!                                      copy: the provider reads
//!                                      a message says that all is there
//! ```
//!
//! Providers whose registrations are costly keep a cache of them, and watch the memory (`fi_mr`, section
//! "Memory registration cache"); so a registration is made for each message, and ended with it. That of a
//! window's memory lasts as long as the window.

use super::copies::RemoteCopy;
use super::state::{Port, PortState};
use crate::single_copy::random;
use heddle_libfabric::{Registered, RemoteMemory, Submission};
use std::sync::Arc;
use std::time::Instant;

/// The time for which memory is exposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// Until a message was read, which has begun: threads that wait stay [awake](super::state::AWAKE) for it.
    Shortly,
    /// As long as a window: peers may write the memory, too.
    Long,
}

/// Memory that peers may use, until this is dropped.
#[derive(Debug)]
pub struct Exposed {
    registered: Option<Registered>,
    memory: RemoteMemory,
    lasts: Lasts,
    port: Arc<Port>,
}

impl Exposed {
    /// The words by which the peer names the memory: an address and a key.
    #[must_use]
    pub fn name(&self) -> (u64, u64) {
        (self.memory.address, self.memory.key)
    }
}

impl Drop for Exposed {
    fn drop(&mut self) {
        // The registration belongs to the endpoint, which one thread at a time may use.
        let mut state = self.port.state();
        self.registered = None;
        if self.lasts == Lasts::Shortly {
            state.exposed -= 1;
        }
    }
}

impl Port {
    /// Lets peers read memory, and write it if it is a window's. Returns `None` if the provider has no remote
    /// memory, or refuses.
    ///
    /// # Safety
    /// The `len` bytes at `start` live longer than the result.
    pub(crate) unsafe fn expose(
        self: &Arc<Port>,
        start: *mut u8,
        len: usize,
        lasts: Lasts,
    ) -> Option<Exposed> {
        if !self.has_remote_memory {
            return None;
        }
        let mut state = self.state();
        // SAFETY: by the caller's promise; the registration keeps the port, and so the endpoint.
        let exposed = unsafe { state.endpoint.expose((start, len), lasts == Lasts::Long, random()) };
        let (registered, memory) = exposed.ok()?;
        if lasts == Lasts::Shortly {
            (state.exposed, state.last_progress) = (state.exposed + 1, Instant::now());
        }
        Some(Exposed { registered: Some(registered), memory, lasts, port: Arc::clone(self) })
    }

    /// Copies data from the memory of a peer, or there. Returns false and does nothing if the provider
    /// refuses the memory of this process, or if the peer is lost. If it `can_stop`, a process that goes on
    /// without lost ranks stops it when the peer is lost.
    ///
    /// # Safety
    /// The memory is valid, and nobody else uses it until the message arrives that all is there.
    pub(crate) unsafe fn copy(&self, copy: RemoteCopy, can_stop: bool) -> bool {
        let apart = can_stop && (self.process.survives)();
        let mut state = self.state();
        if state.has_lost(copy.peer as u32) {
            return false;
        }
        self.connection(&mut state, copy.peer as u32);
        // SAFETY: by the caller's promise.
        let begins = unsafe { self.begin(&mut state, copy, apart) };
        if begins {
            state.last_progress = Instant::now();
            self.copy_delayed(&mut state);
        }
        begins
    }

    /// Begins a copy from a peer that the port has a connection to, if possible in such a way that it can be
    /// stopped if `apart` is true. Returns false if the provider refuses the memory.
    ///
    /// # Safety
    /// As [`copy`](Self::copy).
    pub(super) unsafe fn begin(&self, state: &mut PortState, copy: RemoteCopy, apart: bool) -> bool {
        let apart = apart && self.open_reader(state);
        let PortState { endpoint, reader, copies, .. } = state;
        let endpoint = reader.as_ref().filter(|_| apart).map_or(&*endpoint, |reader| &reader.endpoint);
        // SAFETY: by the caller's promise; the registration ends with the copy.
        let registered = unsafe { endpoint.register_for_copies(copy.here, copy.len) };
        let Ok(registered) = registered else { return false };
        copies.add(copy, registered, apart);
        true
    }

    /// Gives the copies to the provider that it has not taken. Returns true if it takes one.
    pub(super) fn copy_delayed(&self, state: &mut PortState) -> bool {
        let (mut happened, mut lost) = (false, Vec::new());
        let PortState { copies, connections, endpoint, reader, .. } = state;
        for _ in 0..copies.delayed() {
            let failed = copies.copy_first(|peer, under_way| {
                let Some(connection) = connections.get(&peer) else { unreachable!("it was made") };
                let (endpoint, address) = match reader {
                    Some(reader) if under_way.apart => match reader.address(peer, &connection.name) {
                        Ok(address) => (&mut reader.endpoint, address),
                        Err(why) => return Submission::Lost(why),
                    },
                    _ => (&mut *endpoint, connection.address),
                };
                let outcome = under_way.copy_part(endpoint, address, self.longest_copy);
                happened |= outcome == Submission::Taken;
                outcome
            });
            lost.extend(failed);
        }
        lost.into_iter().for_each(|(peer, why)| self.not_copied(state, peer, why));
        happened
    }
}
