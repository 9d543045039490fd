//! Operations that are counted: puts and accumulates without a result, of which each target says how many it
//! has carried out, and gets and operations with a result, which are complete when their data is here.
//! Messages of one process to another stay in order, so the first so many are complete.

use heddle_platform::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;

/// The operations of this process on the other ones of a window.
#[derive(Debug)]
pub(crate) struct Counts {
    asked: Box<[AtomicU64]>,
    done: Box<[AtomicU64]>,
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
            all_asked: AtomicU64::new(0),
            all_done: AtomicU64::new(0),
            ranks: ranks.filter_map(|(rank, process)| Some(((*process)? as usize, rank))).collect(),
        }
    }

    /// Returns true if a process of the job is one of them.
    pub(super) fn has(&self, process: usize) -> bool {
        self.ranks.contains_key(&process)
    }

    /// Counts an operation that is about to be sent.
    pub(super) fn ask(&self, rank: usize) {
        self.asked[rank].fetch_add(1, Ordering::SeqCst);
        self.all_asked.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts operations that a process of the job has carried out. Returns false if it was not asked for so
    /// many.
    pub(super) fn count(&self, process: usize, count: u64) -> bool {
        let Some(rank) = self.ranks.get(&process) else { return false };
        if count > self.under_way(*rank) {
            return false;
        }
        self.done[*rank].fetch_add(count, Ordering::SeqCst);
        self.all_done.fetch_add(count, Ordering::SeqCst);
        true
    }

    /// The operations that a rank was asked for.
    pub(super) fn asked(&self, rank: usize) -> u64 {
        self.asked[rank].load(Ordering::SeqCst)
    }

    /// The operations that it has carried out.
    pub(super) fn done(&self, rank: usize) -> u64 {
        self.done[rank].load(Ordering::SeqCst)
    }

    /// The operations that a rank was asked for and has not carried out.
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
        [1, 1, 2].into_iter().for_each(|rank| counts.ask(rank));
        assert!(!counts.is_complete());
        assert!(counts.count(5, 2));
        assert_eq!([1, 2].map(|rank| counts.asked(rank) - counts.done(rank)), [0, 1]);
        assert!(!counts.count(9, 2), "one was asked for");
        assert!(!counts.count(0, 0), "no process of the window, or one of this machine");
        assert!(counts.count(9, 1));
        assert!(counts.is_complete());
    }
}
