//! Remote reads that are under way.

use crate::network::buffers::{FETCHED, Owner};
use crate::slot::{EXTRA_BYTES, Header};
use heddle_libfabric::{Address, CONTEXT_BYTES, Endpoint, Outcome, Registered, RemoteMemory};
use std::collections::{HashMap, VecDeque};

/// The most bytes of one read; a longer message is read in parts. While the data of one comes over a slow
/// link, its sender's signs of life wait behind it.
const LONGEST_READ: usize = 16 << 20;

/// A message that says that data is there.
type Done = (Header, [u8; EXTRA_BYTES]);

/// Data to fetch from the memory of a peer.
#[derive(Debug)]
pub struct Fetch {
    /// The peer's rank in the job.
    pub peer: usize,
    /// The name of its memory, which it has [exposed](super::Exposed::name).
    pub from: (u64, u64),
    /// Where the data goes.
    pub to: *mut u8,
    /// Bytes.
    pub len: usize,
    /// The message that arrives from this process itself once the data is there.
    pub done: Done,
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
pub(super) struct UnderWay {
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
    pub(super) fn part_is_there(&mut self, index: u32) -> Option<Done> {
        let under_way = self.all.get_mut(&index)?;
        under_way.there += under_way.part;
        if under_way.there < under_way.fetch.len {
            self.delayed.push_back(index);
            return None;
        }
        Some(self.all.remove(&index)?.fetch.done)
    }

    /// Adds a fetch, of which nothing was read yet.
    pub(super) fn add(&mut self, fetch: Fetch, target: Registered) {
        let index = self.next;
        self.next = index.wrapping_add(1);
        let (context, owner) = ([0; CONTEXT_BYTES], Owner { peer: FETCHED, index });
        let under_way = UnderWay { context, owner, fetch, there: 0, part: 0, target };
        self.all.insert(index, Box::new(under_way));
        self.delayed.push_back(index);
    }

    /// The number of fetches whose next read the provider has not taken.
    pub(super) fn delayed(&self) -> usize {
        self.delayed.len()
    }

    /// Gives the next read of the first of them to `read`, with the peer, and puts it behind the others if
    /// that returns false.
    pub(super) fn read_first(&mut self, read: impl FnOnce(u32, &mut UnderWay) -> bool) {
        let Some(index) = self.delayed.pop_front() else { return };
        let Some(under_way) = self.all.get_mut(&index) else { return };
        if !read(under_way.fetch.peer as u32, under_way) {
            self.delayed.push_back(index);
        }
    }

    /// Drops the fetches from a peer whose next read the provider has not taken. Returns true if it has taken
    /// another's.
    pub(super) fn forget(&mut self, peer: u32) -> bool {
        let Fetches { all, delayed, .. } = self;
        let is_from = |index: &u32| all.get(index).is_some_and(|fetch| fetch.fetch.peer as u32 == peer);
        let dropped: Vec<u32> = delayed.iter().copied().filter(is_from).collect();
        delayed.retain(|index| !dropped.contains(index));
        dropped.iter().for_each(|index| drop(all.remove(index)));
        all.values().any(|fetch| fetch.fetch.peer as u32 == peer)
    }

    /// Drops a fetch that has failed; the provider is done with it.
    pub(super) fn failed(&mut self, index: u32) {
        self.all.remove(&index);
    }

    /// The peer from whose memory a fetch reads.
    pub(super) fn peer(&self, index: u32) -> Option<u32> {
        self.all.get(&index).map(|under_way| under_way.fetch.peer as u32)
    }
}

impl UnderWay {
    /// Reads the next part.
    pub(super) fn read(&mut self, endpoint: &mut Endpoint, address: Address, longest: usize) -> Outcome {
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
