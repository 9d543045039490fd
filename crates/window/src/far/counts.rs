//! Operations that are counted: puts and accumulates without a result, of which each target says how many it
//! has carried out, and gets, long puts and operations with a result, which are complete when their data has
//! been copied. Messages of one process to another stay in order, so the former end in the order in which
//! they were sent. The latter end in any order, since some are copied past the thread at the target; one is
//! counted once all before it have ended.

use heddle_platform::atomic::{AtomicU64, Ordering};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// The operations of this process on the other ones of a window.
#[derive(Debug)]
pub(crate) struct Counts {
    asked: Box<[AtomicU64]>,
    /// All operations up to this number are complete.
    done: Box<[AtomicU64]>,
    /// Rank and number of those that have ended before one that was asked for earlier.
    early: Mutex<BTreeSet<(usize, u64)>>,
    all_asked: AtomicU64,
    all_done: AtomicU64,
    /// The ranks in the window, by those in the job.
    ranks: HashMap<usize, usize>,
}

impl Counts {
    /// For these processes, by rank; `None` for those that are never asked.
    pub(super) fn new(processes: Vec<Option<u32>>) -> Counts {
        let zeros = || processes.iter().map(|_| AtomicU64::new(0)).collect();
        let ranks = processes.iter().enumerate();
        Counts {
            asked: zeros(),
            done: zeros(),
            early: Mutex::default(),
            all_asked: AtomicU64::new(0),
            all_done: AtomicU64::new(0),
            ranks: ranks.filter_map(|(rank, process)| Some(((*process)? as usize, rank))).collect(),
        }
    }

    /// Returns true if a process of the job is one of them.
    pub(super) fn has(&self, process: usize) -> bool {
        self.ranks.contains_key(&process)
    }

    /// Counts an operation that is about to be sent. Returns its number among those on the rank, from 1.
    pub(super) fn ask(&self, rank: usize) -> u64 {
        let number = self.asked[rank].fetch_add(1, Ordering::SeqCst) + 1;
        self.all_asked.fetch_add(1, Ordering::SeqCst);
        number
    }

    /// Counts operations that a process of the job has carried out. Returns false if it was not asked for so
    /// many.
    pub(super) fn count(&self, process: usize, count: u64) -> bool {
        let Some(rank) = self.ranks.get(&process) else { return false };
        if count > self.under_way(*rank) {
            return false;
        }
        self.add(*rank, count);
        true
    }

    fn add(&self, rank: usize, count: u64) {
        self.done[rank].fetch_add(count, Ordering::SeqCst);
        self.all_done.fetch_add(count, Ordering::SeqCst);
    }

    /// Notes the end of an operation on a process of the job, by its number, in any order. Returns false if
    /// there is no such operation.
    pub(super) fn end(&self, process: usize, number: u64) -> bool {
        let Some(&rank) = self.ranks.get(&process) else { return false };
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.done(rank);
        if number <= before || number > self.asked(rank) {
            return false;
        }
        if number > before + 1 {
            return early.insert((rank, number));
        }
        let mut last = number;
        while early.remove(&(rank, last + 1)) {
            last += 1;
        }
        self.add(rank, last - before);
        true
    }

    /// The operations that a rank was asked for.
    pub(super) fn asked(&self, rank: usize) -> u64 {
        self.asked[rank].load(Ordering::SeqCst)
    }

    /// The number up to which all operations on a rank are complete.
    pub(super) fn done(&self, rank: usize) -> u64 {
        self.done[rank].load(Ordering::SeqCst)
    }

    /// How many operations a rank was asked for beyond that number.
    pub(super) fn under_way(&self, rank: usize) -> u64 {
        // Those that are done first: other threads ask for more meanwhile, and those may be done, too.
        let done = self.done(rank);
        self.asked(rank) - done
    }

    /// Returns true if all operations were carried out that this thread has counted before.
    pub(super) fn is_complete(&self) -> bool {
        // Those that are done first: if as many were asked for by then and until now, none is missing.
        let done = self.all_done.load(Ordering::SeqCst);
        done == self.all_asked.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_counts_its_own_operations() {
        let counts = Counts::new(vec![None, Some(5), Some(9)]);
        assert!(counts.is_complete());
        assert_eq!([1, 1, 2].map(|rank| counts.ask(rank)), [1, 2, 1]);
        assert!(!counts.is_complete());
        assert!(counts.count(5, 2));
        assert_eq!([1, 2].map(|rank| counts.asked(rank) - counts.done(rank)), [0, 1]);
        assert!(!counts.count(9, 2), "one was asked for");
        assert!(!counts.count(0, 0), "no process of the window, or one of this machine");
        assert!(counts.count(9, 1));
        assert!(counts.is_complete());
    }

    #[test]
    fn an_operation_is_counted_once_all_before_it_have_ended() {
        let counts = Counts::new(vec![Some(5), Some(9)]);
        (0..4).for_each(|_| _ = counts.ask(0));
        assert!(counts.end(5, 2) && counts.end(5, 4));
        assert_eq!(counts.done(0), 0);
        assert!(counts.end(5, 1));
        assert_eq!(counts.done(0), 2, "the third one is under way");
        for wrong in [0, 1, 2, 4, 5] {
            assert!(!counts.end(5, wrong), "{wrong} has ended, or was not asked for");
        }
        assert!(!counts.end(9, 1) && !counts.end(7, 1));
        assert!(!counts.is_complete());
        assert!(counts.end(5, 3));
        assert_eq!((counts.done(0), counts.under_way(0)), (4, 0));
        assert!(counts.is_complete());
    }
}
