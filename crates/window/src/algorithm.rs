//! The algorithms of `MPI_Win_lock`: the locks of `heddle-rma-locks`.
//!
//! Each target has a lock, whose words are kept by all processes of the window. No lock needs its
//! target to be inside MPI.

use crate::adaptive_lock::AdaptiveLock;
use crate::levels::MOST_LEVELS;
use heddle_rma_locks::{
    AdaptiveRw, Bounds, Fissile, FissileRw, Layout, QueueRw, Rank, Rma, SimpleRw, Spin, Word, now,
};
use std::fmt;

/// An algorithm, by the name that the info key `heddle_win_lock` and the variable `HEDDLE_WIN_LOCK` give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockAlgorithm {
    /// The reader-writer lock of the paper, phase-fair, with a word before its queue.
    RmaRw,
    /// The tree of queues, with a word before it; a shared lock is exclusive.
    RmaMcs,
    /// One queue, with a word before it; a shared lock is exclusive.
    DMcs,
    /// foMPI's spin lock; a shared lock is exclusive.
    Spin,
    /// foMPI's reader-writer lock.
    Rw,
    /// A reader-writer word with a queue for those that wait.
    QueueRw,
    /// The reader-writer lock of the paper, which tunes its parameters while it runs.
    Adaptive,
}

impl LockAlgorithm {
    /// All of them, with their names.
    pub const ALL: [(&'static str, LockAlgorithm); 7] = [
        ("queue-rw", LockAlgorithm::QueueRw),
        ("rma-rw", LockAlgorithm::RmaRw),
        ("rma-mcs", LockAlgorithm::RmaMcs),
        ("d-mcs", LockAlgorithm::DMcs),
        ("spin", LockAlgorithm::Spin),
        ("rw", LockAlgorithm::Rw),
        ("adaptive", LockAlgorithm::Adaptive),
    ];

    /// Returns true if the levels of the machine matter to it.
    pub(crate) fn has_levels(self) -> bool {
        matches!(self, LockAlgorithm::RmaRw | LockAlgorithm::RmaMcs | LockAlgorithm::Adaptive)
    }

    /// Returns true if readers have counters.
    fn has_counters(self) -> bool {
        matches!(self, LockAlgorithm::RmaRw | LockAlgorithm::Adaptive)
    }

    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<LockAlgorithm> {
        LockAlgorithm::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }
}

impl fmt::Display for LockAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = LockAlgorithm::ALL.iter().find(|(_, known)| known == self).expect("all are listed");
        f.write_str(name)
    }
}

/// An algorithm with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockChoice {
    /// The algorithm.
    pub algorithm: LockAlgorithm,
    /// Of `rma-rw` and `adaptive`: every how many processes there is a counter of readers (the paper's T_DC).
    /// `adaptive` may leave some of them out.
    pub counter_distance: usize,
    /// Of `rma-rw`, `rma-mcs` and `adaptive`: how many times in a row the lock is passed on within an element
    /// of the machine (T_L,i, at all levels i > 1); under `adaptive` at most.
    pub locality: u64,
    /// Of `rma-rw` and `adaptive`: how many writers may follow each other before waiting readers have their
    /// turn (T_L,1); under `adaptive` at most.
    pub writers: u64,
    /// Of `rma-rw`: for how many readers a writer waits, a while at most, before it takes the lock back
    /// (T_R); 0 for none.
    pub readers: u64,
    /// Of `rma-rw`, `rma-mcs` and `d-mcs`: how many processes may enter past those that wait, between two of
    /// the queue; 0 for the paper's strict order.
    pub bypasses: u64,
    /// Of `adaptive`: how many writers may enter between two turns of the readers, on average; 0 for four for
    /// each process.
    pub patience: u64,
}

impl Default for LockChoice {
    fn default() -> LockChoice {
        LockChoice::of(LockAlgorithm::QueueRw)
    }
}

impl LockChoice {
    /// An algorithm with the usual parameters.
    pub fn of(algorithm: LockAlgorithm) -> LockChoice {
        let (counter_distance, locality, writers) = match algorithm {
            LockAlgorithm::Adaptive => {
                (AdaptiveRw::COUNTER_DISTANCE, AdaptiveRw::LOCALITY, AdaptiveRw::WRITERS)
            }
            _ => (16, 16, 16),
        };
        LockChoice { algorithm, counter_distance, locality, writers, readers: 0, bypasses: 1000, patience: 0 }
    }

    /// The number of words of one lock that each of so many processes keeps.
    pub fn words(&self, processes: usize) -> usize {
        // The same for all algorithms: a process makes its block before it knows which one rank 0 has.
        FissileRw::words_of(1 + MOST_LEVELS)
            .max(AdaptiveRw::words_of(1 + MOST_ADAPTIVE_LEVELS))
            .max(QueueRw::words(processes))
    }

    /// The levels of its trees, for processes that are in these elements of the machine.
    pub(crate) fn layout(&self, names: &[Vec<u64>]) -> Layout {
        let distance = self.counter_distance.max(1);
        match self.algorithm {
            LockAlgorithm::RmaRw | LockAlgorithm::RmaMcs => Layout::named(names, distance),
            LockAlgorithm::Adaptive => {
                let largest = |names: &Vec<u64>| names.iter().copied().take(MOST_ADAPTIVE_LEVELS).collect();
                Layout::named(&names.iter().map(largest).collect::<Vec<_>>(), distance)
            }
            _ => Layout::flat(names.len(), distance),
        }
    }

    /// The number of counters of readers in these trees; 0 for an algorithm without such counters.
    pub(crate) fn counters(&self, layout: &Layout) -> usize {
        if self.algorithm.has_counters() { layout.counters().len() } else { 0 }
    }

    pub(crate) fn lock(&self, layout: Layout) -> WindowLock {
        let processes = layout.processes();
        let locality = vec![self.locality.max(1); layout.levels() - 1];
        match self.algorithm {
            LockAlgorithm::RmaRw => {
                let lock = FissileRw::new(layout, locality, self.writers.max(1), self.bypasses);
                WindowLock::RmaRw(lock.with_readers(self.readers))
            }
            LockAlgorithm::RmaMcs | LockAlgorithm::DMcs => {
                WindowLock::Mcs(Fissile::new(layout, locality, self.bypasses))
            }
            LockAlgorithm::Spin => WindowLock::Spin,
            LockAlgorithm::Rw => WindowLock::Rw,
            LockAlgorithm::QueueRw => WindowLock::QueueRw(QueueRw::new(processes, ATTEMPTS)),
            LockAlgorithm::Adaptive => {
                let bounds = Bounds::up_to(&locality, self.writers, self.patience);
                WindowLock::Adaptive(Box::new(AdaptiveLock::new(layout, bounds)))
            }
        }
    }
}

/// The lock of every target of a window.
#[derive(Debug)]
pub(crate) enum WindowLock {
    RmaRw(FissileRw),
    Mcs(Fissile),
    Spin,
    Rw,
    QueueRw(QueueRw),
    Adaptive(Box<AdaptiveLock>),
}

/// The most levels below the whole machine under `adaptive`: with another one its words would make the locks
/// of every window longer.
const MOST_ADAPTIVE_LEVELS: usize = MOST_LEVELS - 1;

/// The attempts of the first process of a `queue-rw` lock before it reserves the lock.
const ATTEMPTS: u32 = 16;

/// Where the locks of one word keep it.
const WORD: Word = 0;

/// The words are those of the target's lock, which every process keeps some of. In line stands only what a
/// `queue-rw` lock needs when nobody waits. If the rest stood beside it, its values would lie in memory.
impl WindowLock {
    #[inline(always)]
    pub(crate) fn acquire(&self, words: impl Rma + Copy, target: Rank, shared: bool) {
        let is_acquired = match self {
            WindowLock::QueueRw(lock) if shared => now(lock.try_acquire_read(&words, target)),
            WindowLock::QueueRw(lock) => now(lock.try_acquire_write(&words, target)),
            _ => false,
        };
        if !is_acquired {
            self.wait_for(words, target, shared);
        }
    }

    /// Waits until the lock is the caller's. For a `queue-rw` lock an attempt has failed.
    #[inline(never)]
    fn wait_for(&self, words: impl Rma, target: Rank, shared: bool) {
        let words = &words;
        match self {
            WindowLock::RmaRw(lock) if shared => now(lock.acquire_read(words)),
            WindowLock::RmaRw(lock) => now(lock.acquire_write(words, target)),
            WindowLock::Mcs(lock) => now(lock.acquire(words, target)),
            WindowLock::Spin => now(Spin { home: target, word: WORD }.acquire(words)),
            WindowLock::QueueRw(lock) if shared => now(lock.queue_to_read(words, target)),
            WindowLock::QueueRw(lock) => now(lock.queue_to_write(words, target)),
            WindowLock::Rw if shared => now(SimpleRw { home: target, word: WORD }.acquire_read(words)),
            WindowLock::Rw => now(SimpleRw { home: target, word: WORD }.acquire_write(words)),
            WindowLock::Adaptive(lock) => lock.acquire(words, target, shared),
        }
    }

    #[inline(always)]
    pub(crate) fn release(&self, words: impl Rma + Copy, target: Rank, shared: bool) {
        match self {
            WindowLock::QueueRw(lock) if shared => now(lock.release_read(&words, target)),
            WindowLock::QueueRw(lock) => now(lock.release_write(&words, target)),
            _ => self.release_other(words, target, shared),
        }
    }

    /// Releases a lock of another algorithm than `queue-rw`.
    #[inline(never)]
    fn release_other(&self, words: impl Rma, target: Rank, shared: bool) {
        let words = &words;
        match self {
            WindowLock::RmaRw(lock) if shared => now(lock.release_read(words)),
            WindowLock::RmaRw(lock) => now(lock.release_write(words, target)),
            WindowLock::Mcs(lock) => now(lock.release(words, target)),
            WindowLock::Spin => now(Spin { home: target, word: WORD }.release(words)),
            WindowLock::Rw if shared => now(SimpleRw { home: target, word: WORD }.release_read(words)),
            WindowLock::Rw => now(SimpleRw { home: target, word: WORD }.release_write(words)),
            WindowLock::Adaptive(lock) => lock.release(words, target, shared),
            WindowLock::QueueRw(_) => unreachable!("the caller has found another lock"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_lock_that_was_chosen() {
        let lock = |algorithm| LockChoice { algorithm, ..LockChoice::default() }.lock(Layout::flat(4, 1));
        assert!(matches!(lock(LockAlgorithm::QueueRw), WindowLock::QueueRw(_)));
        assert!(matches!(lock(LockAlgorithm::RmaRw), WindowLock::RmaRw(_)));
        assert!(matches!(lock(LockAlgorithm::RmaMcs), WindowLock::Mcs(_)));
        assert!(matches!(lock(LockAlgorithm::DMcs), WindowLock::Mcs(_)));
        assert!(matches!(lock(LockAlgorithm::Spin), WindowLock::Spin));
        assert!(matches!(lock(LockAlgorithm::Rw), WindowLock::Rw));
        assert!(matches!(lock(LockAlgorithm::Adaptive), WindowLock::Adaptive(_)));
    }

    #[test]
    fn every_algorithm_has_a_name() {
        for (name, algorithm) in LockAlgorithm::ALL {
            assert_eq!(LockAlgorithm::named(name), Some(algorithm));
            assert_eq!(algorithm.to_string(), name);
        }
        assert_eq!(LockAlgorithm::named("mutex"), None);
    }

    #[test]
    fn trees_follow_the_machine() {
        let names: Vec<_> = [1, 1, 2, 2].map(|package| vec![package]).into();
        let levels = |algorithm| LockChoice { algorithm, ..LockChoice::default() }.layout(&names).levels();
        let trees =
            [LockAlgorithm::RmaRw, LockAlgorithm::RmaMcs, LockAlgorithm::Adaptive, LockAlgorithm::DMcs];
        assert_eq!(trees.map(levels), [2, 2, 2, 1]);
    }

    #[test]
    fn the_words_of_the_adaptive_lock_take_no_more_room_than_those_of_others() {
        // Elements of 8, of 4 and of 2 processes.
        let names: Vec<Vec<u64>> =
            (1..=16_u64).map(|p| [p.div_ceil(8), p.div_ceil(4), p.div_ceil(2)].into()).collect();
        let choice = LockChoice::of(LockAlgorithm::Adaptive);
        let layout = choice.layout(&names);
        assert_eq!(layout.levels(), 3);
        assert!(AdaptiveRw::words(&layout) <= LockChoice::default().words(16));
        assert_eq!(choice.words(16), FissileRw::words_of(1 + MOST_LEVELS));
    }
}
