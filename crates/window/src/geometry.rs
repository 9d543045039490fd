//! Where the words lie in a window block, the memory of a process that all processes of the window reach;
//! zeros are valid.
//!
//! ```text
//!  head        one cache line: the accumulate lock, the number of attached regions, the event of those that wait for another
//!              word than a lock's
//!  marks       where threads of this process say that they change elements of any target by processor atomics
//!  posted      a word a process: how often that process has posted to this one
//!  completed   a word a process: how often that process has completed an access to this one
//!  locks       for each target, this process's words of the target's lock, and then an event for each of them
//!  regions     in a dynamic window: address and length of each attached region
//!  service     in a window over private memory: the request to the window thread, and its bounce buffer
//! ```

use crate::accumulate_lock::AccumulateLock;
use heddle_sync::{Event, SharedMarks};

pub(crate) const LINE: usize = 64;
pub(crate) const WORD: usize = size_of::<u64>();
pub(crate) const EVENT: usize = size_of::<Event>();

/// Where the accumulate lock lies, and the marks.
pub(crate) const ACCUMULATE_LOCK: usize = WORD;
pub(crate) const MARKS: usize = align_of::<SharedMarks>();
const _: () = assert!(ACCUMULATE_LOCK + size_of::<AccumulateLock>() + WORD <= LINE && LINE <= MARKS);

/// The most regions that a process can attach to a window at one time.
pub(crate) const REGIONS: usize = 4096;

/// What a window block has room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents {
    /// Processes of the window.
    pub(crate) processes: usize,
    /// Words that a process keeps of one target's lock.
    pub(crate) lock_words: usize,
    /// Attached regions.
    pub(crate) regions: usize,
    /// True if the window may lie over private memory.
    pub(crate) private: bool,
}

/// Where the words lie in a window block: offsets and lengths in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geometry {
    pub(crate) contents: Contents,
    posted: usize,
    completed: usize,
    locks: usize,
    /// Each lock has its cache lines to itself.
    lock_len: usize,
    /// Where the events of a lock begin, behind its words. They have lines to themselves: a thread that goes
    /// to sleep there does not take the words' line from the thread that uses the lock.
    lock_events: usize,
    regions: usize,
    service: usize,
}

impl Geometry {
    pub(crate) fn new(contents: Contents) -> Geometry {
        let Contents { processes, lock_words, regions, private: _ } = contents;
        let counters_len = (processes * WORD).next_multiple_of(LINE);
        let lock_events = (lock_words * WORD).next_multiple_of(LINE);
        let lock_len = lock_events + (lock_words * EVENT).next_multiple_of(LINE);
        let posted = MARKS + size_of::<SharedMarks>();
        let completed = posted + counters_len;
        let locks = completed + counters_len;
        let first_region = locks + processes * lock_len;
        let service = (first_region + regions * 2 * WORD).next_multiple_of(LINE);
        Geometry { contents, posted, completed, locks, lock_len, lock_events, regions: first_region, service }
    }

    /// The length of a window block.
    pub(crate) fn len(&self) -> usize {
        self.service + if self.contents.private { 2 * LINE + BOUNCE } else { 0 }
    }

    /// Returns true if such a word may lie in a block: what another machine says is checked.
    pub(crate) fn has(&self, word: WordAt) -> bool {
        let WordAt { offset, event } = word;
        let fits = |at: usize, size: usize| at.is_multiple_of(size) && at + size <= self.service;
        fits(offset, WORD) && fits(event, EVENT)
    }

    /// The number of entries of the table of regions that were ever used.
    pub(crate) fn regions_used(&self) -> WordAt {
        WordAt::new(ACCUMULATE_LOCK + size_of::<AccumulateLock>())
    }

    /// How often `process` has posted to this one.
    pub(crate) fn posted(&self, process: usize) -> WordAt {
        WordAt::new(self.posted + process * WORD)
    }

    /// How often `process` has completed an access to this one.
    pub(crate) fn completed(&self, process: usize) -> WordAt {
        WordAt::new(self.completed + process * WORD)
    }

    /// The first word of the lock of `target` that this process keeps.
    #[inline(always)]
    pub(crate) fn lock(&self, target: usize) -> WordAt {
        debug_assert!(target < self.contents.processes);
        let offset = self.locks + target * self.lock_len;
        WordAt { offset, event: offset + self.lock_events }
    }

    /// Address and length of an attached region.
    pub(crate) fn region(&self, index: usize) -> [WordAt; 2] {
        let offset = self.regions + index * 2 * WORD;
        [WordAt::new(offset), WordAt::new(offset + WORD)]
    }

    /// The lock of the window thread's desk; behind it, its state, the request and the bounce buffer.
    pub(crate) fn desk(&self) -> WordAt {
        WordAt::new(self.service)
    }
}

/// Where a word lies in a window block, and where those that wait for it sleep, in bytes from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordAt {
    pub(crate) offset: usize,
    pub(crate) event: usize,
}

impl WordAt {
    /// A word of no lock: those that wait for it sleep on the event of the head.
    const fn new(offset: usize) -> WordAt {
        WordAt { offset, event: 0 }
    }

    /// The word that lies `words` behind this one in the same lock.
    #[inline(always)]
    pub(crate) fn of_lock(self, words: usize) -> WordAt {
        WordAt { offset: self.offset + words * WORD, event: self.event + words * EVENT }
    }

    /// The word that lies `words` behind this one of no lock.
    pub(crate) fn plus(self, words: usize) -> WordAt {
        WordAt { offset: self.offset + words * WORD, ..self }
    }
}

/// Bytes of the bounce buffer.
pub(crate) const BOUNCE: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_do_not_overlap() {
        let three = Contents { processes: 3, lock_words: 5, regions: 2, private: false };
        let geometry = Geometry::new(three);
        let head = MARKS + size_of::<SharedMarks>();
        assert_eq!(geometry.regions_used().offset % WORD, 0);
        assert_eq!([geometry.posted(0), geometry.completed(0)].map(|word| word.offset), [head, head + 64]);
        let locks = head + 2 * 64;
        assert_eq!([geometry.lock(0), geometry.lock(2)].map(|word| word.offset), [locks, locks + 4 * 64]);
        assert_eq!(geometry.lock(2).of_lock(4).event, locks + 5 * 64 + 4 * EVENT);
        let regions = locks + 6 * 64;
        assert_eq!(geometry.region(0)[0].offset, regions);
        assert_eq!(geometry.len(), regions + 64);
        let private = Geometry::new(Contents { private: true, ..three });
        assert_eq!((private.desk().offset, private.len()), (regions + 64, regions + 3 * 64 + BOUNCE));
        let wide = Contents { processes: 9, lock_words: 9, regions: 0, private: false };
        assert_eq!(Geometry::new(wide).len(), head + 2 * 128 + 9 * 192);
    }
}
