//! The locks that the benchmarks compare, behind one face.

use crate::network::{NANOSECOND, SimulatedNetwork};
use crate::process::SimulatedProcess;
use heddle_rma_locks::{
    AdaptiveRw, Bounds, QueueRw, Rank, Reader, ReaderPatience, RmaMcs, RmaRw, SimpleRw, Spin,
};

/// The process that keeps the word of the locks that have only one.
const HOME: Rank = 0;

/// A kind of lock with its parameters, named as in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// foMPI-Spin.
    Spin,
    /// D-MCS: one queue.
    DMcs,
    /// RMA-MCS.
    RmaMcs {
        /// T_L,i for each level below the first.
        locality: u64,
    },
    /// foMPI-RW.
    SimpleRw,
    /// RMA-RW.
    RmaRw(RmaRwParameters),
    /// RMA-RW that tunes its parameters.
    Adaptive(Tuned),
    /// The reader-writer word with a queue, which is not from the paper.
    QueueRw,
}

/// What the adaptive lock may choose: the least and the most of each threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuned {
    /// The smallest T_DC; others are its multiples by powers of 2.
    pub counter_distance: usize,
    /// T_L,i for each level below the first.
    pub locality: (u64, u64),
    /// T_L,1.
    pub writers: (u64, u64),
    /// How long readers may be kept out on average, a time in nanoseconds; none for the lock's own choice.
    pub patience: Option<ReaderPatience>,
}

/// The parameters of RMA-RW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RmaRwParameters {
    /// T_DC: the number of processes that share a counter.
    pub counter_distance: usize,
    /// T_L,i for each level below the first.
    pub locality: u64,
    /// T_L,1: passings at the root before the readers have their turn.
    pub writers: u64,
    /// T_R: the number of readers that come to a writer's counter before it takes the lock back; 0 for none.
    pub readers: u64,
}

impl LockKind {
    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            LockKind::Spin => "foMPI-Spin",
            LockKind::DMcs => "D-MCS",
            LockKind::RmaMcs { .. } => "RMA-MCS",
            LockKind::SimpleRw => "foMPI-RW",
            LockKind::RmaRw(_) => "RMA-RW",
            LockKind::Adaptive(..) => "adaptive RMA-RW",
            LockKind::QueueRw => "QueueRw",
        }
    }

    /// A lock of this kind for `processes` processes of a machine.
    pub(crate) fn make(&self, network: &SimulatedNetwork, processes: usize) -> Lock {
        let levels_below = network.sizes.len();
        match *self {
            LockKind::Spin => Lock { words: 1, form: Form::Spin(Spin { home: HOME, word: 0 }) },
            LockKind::SimpleRw => Lock { words: 1, form: Form::SimpleRw(SimpleRw { home: HOME, word: 0 }) },
            LockKind::DMcs => {
                let layout = heddle_rma_locks::Layout::flat(processes, processes);
                Lock { words: layout.words(), form: Form::Mcs(RmaMcs::new(layout, vec![])) }
            }
            LockKind::RmaMcs { locality } => {
                let layout = network.layout(processes, processes);
                let words = layout.words();
                Lock { words, form: Form::Mcs(RmaMcs::new(layout, vec![locality; levels_below])) }
            }
            LockKind::RmaRw(RmaRwParameters { counter_distance, locality, writers, readers }) => {
                let layout = network.layout(processes, counter_distance);
                let words = layout.words();
                let lock = RmaRw::new(layout, vec![locality; levels_below], writers).with_readers(readers);
                Lock { words, form: Form::Rw(lock) }
            }
            LockKind::Adaptive(Tuned { counter_distance, locality, writers, patience }) => {
                let layout = network.layout(processes, counter_distance);
                let words = AdaptiveRw::words(&layout);
                let mut bounds =
                    Bounds::new(vec![locality.0..=locality.1; levels_below], writers.0..=writers.1);
                if let Some(patience) = patience {
                    bounds = bounds.with_patience(patience);
                }
                Lock { words, form: Form::Adaptive(AdaptiveRw::new(layout, bounds)) }
            }
            LockKind::QueueRw => {
                let lock = QueueRw::new(processes, ATTEMPTS);
                Lock { words: QueueRw::words(processes), form: Form::QueueRw(lock) }
            }
        }
    }
}

/// Failed attempts after which the first of `QueueRw`'s queue reserves the lock, as windows have it.
const ATTEMPTS: u32 = 100;

/// A lock.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The number of words that each process keeps for it.
    pub(crate) words: usize,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Spin(Spin),
    Mcs(RmaMcs),
    SimpleRw(SimpleRw),
    Rw(RmaRw),
    Adaptive(AdaptiveRw),
    QueueRw(QueueRw),
}

impl Lock {
    /// Waits until the process may write, or read; `reader` is what it remembers for that. Locks without
    /// readers take everybody for a writer.
    pub(crate) async fn acquire(&self, process: &SimulatedProcess, reader: &mut Reader, writes: bool) {
        match (&self.form, writes) {
            (Form::Spin(lock), _) => lock.acquire(process).await,
            (Form::Mcs(lock), _) => lock.acquire(process).await,
            (Form::SimpleRw(lock), true) => lock.acquire_write(process).await,
            (Form::SimpleRw(lock), false) => lock.acquire_read(process).await,
            (Form::Rw(lock), true) => lock.acquire_write(process).await,
            (Form::Rw(lock), false) => lock.acquire_read(process).await,
            (Form::Adaptive(lock), true) => lock.acquire_write(process).await,
            (Form::Adaptive(lock), false) => lock.acquire_read(process, reader).await,
            (Form::QueueRw(lock), true) => lock.acquire_write(process, HOME).await,
            (Form::QueueRw(lock), false) => lock.acquire_read(process, HOME).await,
        }
    }

    /// Ends that.
    pub(crate) async fn release(&self, process: &SimulatedProcess, reader: &Reader, writes: bool) {
        match (&self.form, writes) {
            (Form::Spin(lock), _) => lock.release(process).await,
            (Form::Mcs(lock), _) => lock.release(process).await,
            (Form::SimpleRw(lock), true) => lock.release_write(process).await,
            (Form::SimpleRw(lock), false) => lock.release_read(process).await,
            (Form::Rw(lock), true) => lock.release_write(process).await,
            (Form::Rw(lock), false) => lock.release_read(process).await,
            (Form::Adaptive(lock), true) => lock.release_write(process, process.time() / NANOSECOND).await,
            (Form::Adaptive(lock), false) => lock.release_read(process, reader).await,
            (Form::QueueRw(lock), true) => lock.release_write(process, HOME).await,
            (Form::QueueRw(lock), false) => lock.release_read(process, HOME).await,
        }
    }
}
