//! How many processes enter their critical section past one that waits.
//!
//! A process waits from the operation by which it takes its place: until then it may be as slow as it likes,
//! and no lock can promise anything. What counts from when:
//!
//! | who waits | is passed by | from |
//! |---|---|---|
//! | a writer in a queue of the tree | a writer of its element | its entry into the queue of level N |
//! | | another writer | the entry of its element into the root's queue, while it stands there |
//! | | a reader | its mark on the last counter |
//! | a reader of RMA-RW | a writer | its count |
//! | the first of `QueueRw`'s queue | anybody | its reservation |
//! | a writer of `Fissile` or `FissileRw` | a writer | its entry into the queue |
//! | a reader of `FissileRw` | a writer | its last count |

use super::{Operation, Presence};
use heddle_rma_locks::{Rank, Word};
use std::cell::Cell;
use std::rc::Rc;

/// The places of a lock's words that tell who waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The node of each process in the root's queue, and the words of a node's status and the queue's tail.
    pub(crate) root_nodes: Vec<Rank>,
    pub(crate) root_status: Option<Word>,
    pub(crate) root_tail: Option<Word>,
    /// The word that counts readers that have come, the bit by which a writer marks it, and the number of
    /// counters.
    pub(crate) arrive: Option<Word>,
    pub(crate) counters: usize,
    /// The word of `QueueRw`, and the bit of a reservation.
    pub(crate) word: Option<Word>,
}

/// By how many a process was passed at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Most {
    pub(crate) writer_by_writers: usize,
    pub(crate) writer_by_readers: usize,
    pub(crate) reader_by_writers: usize,
    pub(crate) reserver_by_all: usize,
}

/// The bit by which a writer marks a counter.
const WRITE: u64 = 1 << 63;
/// The bit by which the first of a queue reserves `QueueRw`.
const RESERVED: u64 = 1 << 62;

#[derive(Debug, Clone, Default, Hash)]
struct Waiter {
    /// It has entered a queue as a writer, has been counted as a reader, has reserved.
    queued: bool,
    counted: bool,
    reserved: bool,
    /// The counters that it has marked.
    marks: usize,
    /// Those that passed it.
    writers: usize,
    readers: usize,
}

/// Who waits, and who has passed whom.
#[derive(Debug, Clone)]
pub(crate) struct Bypass {
    places: Places,
    waiters: Vec<Waiter>,
    /// For each process whose node of the root's queue it is: whether that stands in the queue.
    at_root: Vec<bool>,
    most: Rc<Cell<Most>>,
}

impl std::hash::Hash for Bypass {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (&self.waiters, &self.at_root).hash(hasher);
    }
}

impl Bypass {
    pub(crate) fn new(places: Places, processes: usize, most: Rc<Cell<Most>>) -> Bypass {
        Bypass { places, waiters: vec![Waiter::default(); processes], at_root: vec![false; processes], most }
    }

    /// Process `p` has made an operation.
    pub(crate) fn operated(&mut self, p: Rank, operation: &Operation, answer: u64) {
        let Bypass { places, waiters, at_root, .. } = self;
        let waiter = &mut waiters[p];
        match *operation {
            Operation::Swap(name, _, word) => {
                waiter.queued = true;
                if places.root_tail == Some(word) {
                    at_root[name as usize - 1] = true;
                }
            }
            Operation::CompareAndSwap(_, expected, _, word)
                if places.root_tail == Some(word) && answer == expected =>
            {
                at_root[expected as usize - 1] = false;
            }
            Operation::Put(_, target, word)
                if places.root_status == Some(word) && places.root_nodes[p] != target =>
            {
                at_root[places.root_nodes[p]] = false;
            }
            // A reader takes itself out.
            Operation::CompareAndSwap(value, expected, _, word)
                if places.arrive == Some(word) && answer == expected && value + 1 == expected =>
            {
                waiter.counted = false;
            }
            Operation::FetchAdd(WRITE, _, word) if places.arrive == Some(word) => waiter.marks += 1,
            Operation::FetchAdd(1, _, word) if places.arrive == Some(word) => {
                (waiter.counted, waiter.writers) = (true, 0);
            }
            Operation::FetchAdd(RESERVED, _, word) if places.word == Some(word) => waiter.reserved = true,
            _ => {}
        }
    }

    /// Process `p` enters its critical section.
    pub(crate) fn enters(&mut self, p: Rank, presence: Presence) {
        let mut most = self.most.get();
        let waiter = std::mem::take(&mut self.waiters[p]);
        if waiter.reserved {
            most.reserver_by_all = most.reserver_by_all.max(waiter.writers + waiter.readers);
        } else if presence == Presence::Writes {
            most.writer_by_writers = most.writer_by_writers.max(waiter.writers);
            most.writer_by_readers = most.writer_by_readers.max(waiter.readers);
        } else {
            most.reader_by_writers = most.reader_by_writers.max(waiter.writers);
        }
        self.most.set(most);
        let Bypass { places, waiters, at_root, .. } = self;
        for (other, waiter) in waiters.iter_mut().enumerate().filter(|(other, _)| *other != p) {
            let is_queued = waiter.queued && !places.root_nodes.is_empty();
            let is_near = || places.root_nodes[other] == places.root_nodes[p];
            let may_count = is_queued && (is_near() || at_root[places.root_nodes[other]]);
            if presence == Presence::Writes {
                waiter.writers += usize::from(waiter.reserved || waiter.counted || may_count);
            } else {
                let has_marked = waiter.queued && waiter.marks > 0 && waiter.marks == places.counters;
                waiter.readers += usize::from(waiter.reserved || has_marked);
            }
        }
    }
}
