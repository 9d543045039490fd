//! Remote reads: the data of a long message goes straight from its sender's memory to its receiver's.
//!
//! ```text
//!   sender                             receiver
//!   expose: the provider gives a key
//!     ── message with address, key ─────▶
//!                                      fetch: the provider reads
//!                                      a message says that all is there
//! ```
//!
//! Providers whose registrations are costly keep a cache of them, and watch the memory (`fi_mr`, section
//! "Memory registration cache"); so a registration is made for each message, and ended with it.

use super::{Arrival, Port, State};
use crate::network::buffers::{FETCHED, Owner};
use crate::single_copy::random;
use crate::slot::{EXTRA_BYTES, Header};
use heddle_libfabric::{CONTEXT_BYTES, Endpoint, Outcome, Registered, RemoteMemory};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most bytes of one read; a longer message is read in parts. While the data of one comes over a slow link, its
/// sender's signs of life wait behind it.
const LONGEST_READ: usize = 16 << 20;

/// Memory that a peer may read, until this is dropped.
#[derive(Debug)]
pub struct Exposed {
    registered: Option<Registered>,
    memory: RemoteMemory,
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
        let _state = self.port.state();
        self.registered = None;
    }
}

/// Data to fetch from the memory of a peer.
#[derive(Debug)]
pub struct Fetch {
    /// The peer's rank in the job.
    pub peer: usize,
    /// The name of its memory, which it has [exposed](Exposed::name).
    pub from: (u64, u64),
    /// Where the data goes.
    pub to: *mut u8,
    /// Bytes.
    pub len: usize,
    /// The message that arrives from this process itself once the data is there.
    pub done: (Header, [u8; EXTRA_BYTES]),
}

/// The fetches that are under way.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    all: HashMap<u32, Box<UnderWay>>,
    next: u32,
    /// Those that the provider has not taken.
    delayed: VecDeque<u32>,
}

/// A fetch that is under way. Its first bytes are as those of a packet's buffer.
#[derive(Debug)]
#[repr(C, align(64))]
struct UnderWay {
    context: [u8; CONTEXT_BYTES],
    owner: Owner,
    fetch: Fetch,
    /// The bytes that are there.
    there: usize,
    /// The bytes of the read that is under way.
    part: usize,
    target: Registered,
}

// SAFETY: whoever fetches leaves the memory to the port until the data is there.
unsafe impl Send for UnderWay {}

impl Fetches {
    /// Returns true if none is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Notes that a read is complete. Returns the message that says so if it was the last one of its fetch.
    pub(super) fn part_is_there(&mut self, index: u32) -> Option<Arrival> {
        let under_way = self.all.get_mut(&index)?;
        under_way.there += under_way.part;
        if under_way.there < under_way.fetch.len {
            self.delayed.push_back(index);
            return None;
        }
        let (header, words) = self.all.remove(&index)?.fetch.done;
        Some(Arrival::Fetched { header, words })
    }

    /// The peer from whose memory a fetch reads.
    pub(super) fn peer(&self, index: u32) -> Option<u32> {
        self.all.get(&index).map(|under_way| under_way.fetch.peer as u32)
    }
}

impl Port {
    /// Lets a peer read memory. Returns `None` if the provider has no remote reads, or refuses.
    ///
    /// # Safety
    /// The `len` bytes at `start` live longer than the result.
    pub(crate) unsafe fn expose(self: &Arc<Port>, start: *mut u8, len: usize) -> Option<Exposed> {
        if !self.has_remote_reads {
            return None;
        }
        // SAFETY: by the caller's promise; the registration keeps the port, and so the endpoint.
        let exposed = unsafe { self.state().endpoint.expose(start, len, random()) };
        let (registered, memory) = exposed.ok()?;
        Some(Exposed { registered: Some(registered), memory, port: Arc::clone(self) })
    }

    /// Fetches data from the memory of a peer. Returns false and does nothing if the provider refuses the
    /// memory that the data goes to.
    ///
    /// # Safety
    /// The memory is valid, and nobody else uses it until the message arrives that all is there.
    pub(crate) unsafe fn fetch(&self, fetch: Fetch) -> bool {
        let mut state = self.state();
        // SAFETY: by the caller's promise; the registration ends with the fetch.
        let target = unsafe { state.endpoint.register_target(fetch.to, fetch.len) };
        let Ok(target) = target else { return false };
        self.connection(&mut state, fetch.peer as u32);
        let index = state.fetches.next;
        state.fetches.next = index.wrapping_add(1);
        let owner = Owner { peer: FETCHED, index };
        let context = [0; CONTEXT_BYTES];
        let under_way = UnderWay { context, owner, fetch, there: 0, part: 0, target };
        state.fetches.all.insert(index, Box::new(under_way));
        state.fetches.delayed.push_back(index);
        self.read_delayed(&mut state);
        true
    }

    /// Gives the reads to the provider that it has not taken. Returns true if it takes one.
    pub(super) fn read_delayed(&self, state: &mut State) -> bool {
        let mut happened = false;
        for _ in 0..state.fetches.delayed.len() {
            let State { fetches, connections, endpoint, .. } = &mut *state;
            let Some(index) = fetches.delayed.pop_front() else { break };
            let Some(under_way) = fetches.all.get_mut(&index) else { continue };
            let peer = under_way.fetch.peer as u32;
            let Some(connection) = connections.get(&peer) else { unreachable!("it was made") };
            match under_way.read(endpoint, connection.address, self.longest_read) {
                Outcome::Taken => happened = true,
                Outcome::Later => fetches.delayed.push_back(index),
                Outcome::Lost(why) => self.lose(peer, Some(&connection.host), why),
            }
        }
        happened
    }
}

impl UnderWay {
    /// Reads the next part.
    fn read(
        &mut self,
        endpoint: &mut Endpoint,
        address: heddle_libfabric::Address,
        longest: usize,
    ) -> Outcome {
        let Fetch { from: (start, key), to, len, .. } = self.fetch;
        self.part = (len - self.there).min(longest);
        let from = (address, RemoteMemory { address: start, key }.from(self.there));
        let to = to.wrapping_add(self.there);
        // The provider reads the owner's words back through the context, too.
        let context = (&raw mut *self).cast();
        // SAFETY: the memory is the port's by the promise to `fetch`, and the context lies in a box that
        // stays until the completion.
        unsafe { endpoint.read(from, to, self.part, &self.target, context) }
    }
}

/// The most bytes of one read of this provider.
pub(super) fn longest_read(longest: usize) -> usize {
    longest.min(LONGEST_READ)
}
