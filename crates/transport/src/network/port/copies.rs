//! Remote reads and writes that are under way.

use crate::network::buffers::{COPIED, Owner};
use crate::slot::{EXTRA_BYTES, Header};
use heddle_libfabric::{Address, CONTEXT_BYTES, Endpoint, Registered, RemoteMemory, Submission};
use std::collections::{HashMap, VecDeque};

/// The most bytes of one operation. Longer data is copied in parts: a thread stays awake while they become
/// complete, and a provider does not tell how much it has of one that is not.
const LONGEST_COPY: usize = 1 << 20;

/// The parts of one copy that the provider has at once.
const AT_ONCE: usize = 2;

/// A message that says that data is there.
type Done = (Header, [u8; EXTRA_BYTES]);

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDirection {
    /// From the memory of the peer.
    Read,
    /// To the memory of the peer.
    Write,
}

/// Data to copy from the memory of a peer, or there.
#[derive(Debug)]
pub struct RemoteCopy {
    /// The direction.
    pub direction: CopyDirection,
    /// The peer's rank in the job.
    pub peer: usize,
    /// The name of its memory, which it has [exposed](super::Exposed::name).
    pub there: (u64, u64),
    /// The memory of this process.
    pub here: *mut u8,
    /// Bytes.
    pub len: usize,
    /// The message that arrives from this process itself once the data is there.
    pub done: Done,
}

/// The copies that are under way.
#[derive(Debug, Default)]
pub(super) struct RemoteCopies {
    all: HashMap<u32, Box<UnderWay>>,
    next: u32,
    /// Those that the provider has not taken.
    delayed: VecDeque<u32>,
}

/// A copy that is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    parts: [Part; AT_ONCE],
    copy: RemoteCopy,
    /// The bytes that were asked for.
    asked: usize,
    /// The bytes that are there.
    there: usize,
    /// The reason for which a part has failed, while another one is under way.
    failed: Option<String>,
    registered: Registered,
    /// True if the parts are copied by an endpoint that can be closed (`reader.rs`).
    pub(super) apart: bool,
}

/// The copies from or to a peer that the provider has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// Some that can be stopped.
    Apart,
    /// Some that cannot.
    Here,
}

/// A part. Its first bytes are as those of a packet's buffer.
#[derive(Debug)]
#[repr(C, align(64))]
struct Part {
    context: [u8; CONTEXT_BYTES],
    owner: Owner,
    /// Bytes; 0 while the provider does not have it.
    len: usize,
}

/// The end of a copy.
#[derive(Debug)]
pub(super) enum Ended {
    /// All data is there: the message that says so.
    Done(Done),
    /// The data of this peer cannot be copied, for this reason.
    Failed(u32, String),
}

// SAFETY: whoever copies leaves the memory to the port until the data is there.
unsafe impl Send for UnderWay {}

impl RemoteCopies {
    /// Returns true if none is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Notes that the provider has copied a part, or why it has failed. Returns the end of its copy if it was
    /// the last one.
    pub(super) fn part_has_ended(&mut self, index: u32, failed: Option<String>) -> Option<Ended> {
        let (number, part) = (index / AT_ONCE as u32, index as usize % AT_ONCE);
        let under_way = self.all.get_mut(&number)?;
        let len = std::mem::take(&mut under_way.parts[part].len);
        match failed {
            Some(why) => _ = under_way.failed.get_or_insert(why),
            None => under_way.there += len,
        }
        let provider_has_part = under_way.provider_has_part();
        let is_over = if under_way.failed.is_some() { !provider_has_part } else { under_way.is_complete() };
        if is_over {
            self.delayed.retain(|delayed| *delayed != number);
            let UnderWay { copy, failed, .. } = *self.all.remove(&number)?;
            return Some(failed.map_or(Ended::Done(copy.done), |why| Ended::Failed(copy.peer as u32, why)));
        }
        if under_way.failed.is_none() && under_way.wants_more() && !self.delayed.contains(&number) {
            self.delayed.push_back(number);
        }
        None
    }

    /// Adds a copy, of which the provider has nothing yet.
    pub(super) fn add(&mut self, copy: RemoteCopy, registered: Registered, apart: bool) {
        let number = self.next;
        self.next = (number + 1) % (u32::MAX / AT_ONCE as u32);
        let part = |part| Part {
            context: [0; CONTEXT_BYTES],
            owner: Owner { peer: COPIED, index: number * AT_ONCE as u32 + part as u32 },
            len: 0,
        };
        let parts = std::array::from_fn(part);
        let under_way = UnderWay { parts, copy, asked: 0, there: 0, failed: None, registered, apart };
        self.all.insert(number, Box::new(under_way));
        self.delayed.push_back(number);
    }

    /// The number of copies whose next part the provider has not taken.
    pub(super) fn delayed(&self) -> usize {
        self.delayed.len()
    }

    /// Gives the next part of the first of them to `copy_part`, with the peer, until it wants no more or the
    /// provider takes no more. Returns the peer and the reason if it cannot be copied at all.
    pub(super) fn copy_first(
        &mut self,
        mut copy_part: impl FnMut(u32, &mut UnderWay) -> Submission,
    ) -> Option<(u32, String)> {
        let number = self.delayed.pop_front()?;
        let under_way = self.all.get_mut(&number)?;
        let peer = under_way.copy.peer as u32;
        while under_way.failed.is_none() && under_way.wants_more() {
            match copy_part(peer, under_way) {
                Submission::Taken => {}
                Submission::Later => {
                    self.delayed.push_back(number);
                    break;
                }
                // It ends with the part that the provider has.
                Submission::Lost(why) if under_way.provider_has_part() => under_way.failed = Some(why),
                Submission::Lost(why) => {
                    self.all.remove(&number);
                    return Some((peer, why));
                }
            }
        }
        None
    }

    /// Drops the copies from a peer of which the provider has no part. Returns those that are left.
    pub(super) fn forget(&mut self, peer: u32) -> Left {
        let RemoteCopies { all, delayed, .. } = self;
        all.retain(|_, under_way| under_way.copy.peer as u32 != peer || under_way.provider_has_part());
        delayed.retain(|number| all.get(number).is_some_and(|under_way| under_way.copy.peer as u32 != peer));
        let left = all.values().filter(|under_way| under_way.copy.peer as u32 == peer);
        left.fold(Left::Nothing, |left, under_way| match left {
            Left::Here => Left::Here,
            _ if under_way.apart => Left::Apart,
            _ => Left::Here,
        })
    }

    /// Takes out the copies that are made apart, whose endpoint is closed, and ends their registrations.
    pub(super) fn take_apart(&mut self) -> Vec<RemoteCopy> {
        let RemoteCopies { all, delayed, .. } = self;
        let apart: Vec<RemoteCopy> =
            all.extract_if(|_, under_way| under_way.apart).map(|(_, under_way)| under_way.copy).collect();
        delayed.retain(|number| all.contains_key(number));
        apart
    }

    /// The peer from or to whose memory a part is copied.
    pub(super) fn peer(&self, index: u32) -> Option<u32> {
        self.all.get(&(index / AT_ONCE as u32)).map(|under_way| under_way.copy.peer as u32)
    }
}

impl UnderWay {
    /// Returns true if the provider has a part.
    fn provider_has_part(&self) -> bool {
        self.parts.iter().any(|part| part.len != 0)
    }

    fn is_complete(&self) -> bool {
        self.there == self.copy.len
    }

    /// Returns true if there is something to ask for, and a part is free to do so.
    fn wants_more(&self) -> bool {
        self.asked < self.copy.len && self.parts.iter().any(|part| part.len == 0)
    }

    /// Copies the next part.
    pub(super) fn copy_part(
        &mut self,
        endpoint: &mut Endpoint,
        address: Address,
        longest: usize,
    ) -> Submission {
        let RemoteCopy { direction, there: (start, key), here, len, .. } = self.copy;
        let Some(part) = self.parts.iter_mut().find(|part| part.len == 0) else { return Submission::Later };
        let len = (len - self.asked).min(longest);
        let there = (address, RemoteMemory { address: start, key }.from(self.asked));
        let here = here.wrapping_add(self.asked);
        // The port reads the owner's words back through the context, too.
        let context = (&raw mut *part).cast();
        let outcome = match direction {
            // SAFETY: the memory is the port's by the promise to `copy`, and the context lies in a box that
            // stays until the completion.
            CopyDirection::Read => unsafe { endpoint.read(there, here, len, &self.registered, context) },
            // SAFETY: the same.
            CopyDirection::Write => unsafe { endpoint.write(there, here, len, &self.registered, context) },
        };
        if outcome == Submission::Taken {
            part.len = len;
            self.asked += len;
        }
        outcome
    }
}

/// The most bytes of one operation of this provider.
pub(super) fn longest_copy(longest: usize) -> usize {
    longest.min(LONGEST_COPY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Envelope;

    /// A copy of four bytes from rank 3, of which the provider has two parts of one byte each.
    fn two_parts_under_way() -> RemoteCopies {
        let header = Header { kind: 1, aux: 0, context: 0, envelope: Envelope::new(0, 0) };
        let copy = RemoteCopy {
            direction: CopyDirection::Read,
            peer: 3,
            there: (0, 0),
            here: std::ptr::null_mut(),
            len: 4,
            done: (header, [0; EXTRA_BYTES]),
        };
        let mut copies = RemoteCopies::default();
        copies.add(copy, Registered::NONE, false);
        assert!(copies.copy_first(|_, under_way| take_part(under_way)).is_none());
        copies
    }

    /// Takes a part of one byte, as a provider does.
    fn take_part(under_way: &mut UnderWay) -> Submission {
        let part = under_way.parts.iter_mut().find(|part| part.len == 0).expect("it wants more");
        part.len = 1;
        under_way.asked += 1;
        Submission::Taken
    }

    fn has_failed(ended: Option<Ended>, reason: &str) -> bool {
        matches!(ended, Some(Ended::Failed(3, why)) if why == reason)
    }

    #[test]
    fn a_copy_that_has_failed_is_over_when_the_provider_has_no_part_of_it() {
        for second_fails in [false, true] {
            let mut copies = two_parts_under_way();
            assert!(copies.part_has_ended(1, Some("first".to_owned())).is_none(), "part 0 is under way");
            assert!(!copies.is_empty(), "the provider still writes there");
            assert_eq!(copies.delayed(), 0, "nothing more is asked for");
            let second = second_fails.then(|| "second".to_owned());
            assert!(has_failed(copies.part_has_ended(0, second), "first"));
            assert!(copies.is_empty());
        }
    }

    #[test]
    fn a_copy_whose_next_part_cannot_be_asked_for_is_over_when_the_provider_has_no_part_of_it() {
        let mut copies = two_parts_under_way();
        assert!(copies.part_has_ended(0, None).is_none());
        let lost = copies.copy_first(|_, _| Submission::Lost("gone".to_owned()));
        assert!(lost.is_none(), "part 1 is under way");
        assert!(has_failed(copies.part_has_ended(1, None), "gone"));
        assert!(copies.is_empty());
    }

    #[test]
    fn a_copy_is_done_when_all_its_parts_are_there() {
        let mut copies = two_parts_under_way();
        assert!(copies.part_has_ended(1, None).is_none());
        assert!(copies.copy_first(|_, under_way| take_part(under_way)).is_none());
        assert!(copies.part_has_ended(0, None).is_none());
        assert!(copies.part_has_ended(1, None).is_none());
        assert!(copies.copy_first(|_, under_way| take_part(under_way)).is_none());
        assert!(matches!(copies.part_has_ended(0, None), Some(Ended::Done(_))));
        assert!(copies.is_empty() && copies.delayed() == 0);
    }
}
