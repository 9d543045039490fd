//! The queue of Amer et al., *Software combining to mitigate multithreaded MPI contention* (ICS 2019,
//! slides): threads enqueue and dequeue in turn on one queue, guarded by each lock; queues that need no lock
//! are shown for reference.

use std::collections::VecDeque;
use std::hint::black_box;

use super::experiment::LockExperiment;
use super::sample::Sample;
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::{self, TeamEffort, Until};

/// More than threads can have in the queue at once.
pub(crate) const CAPACITY: usize = 1 << 12;

/// A queue that several threads may use.
pub(crate) trait Fifo: Sync + 'static {
    /// An empty one with room for [`CAPACITY`] values.
    fn new() -> Self;
    /// Adds a value.
    fn enqueue(&self, value: u64);
    /// Takes the oldest value.
    fn dequeue(&self) -> Option<u64>;
}

/// A plain queue in a guard.
struct GuardedFifo<K: GuardKind>(K::Guarded<VecDeque<u64>>);

impl<K: GuardKind> Fifo for GuardedFifo<K> {
    fn new() -> Self {
        Self(K::guard(VecDeque::with_capacity(CAPACITY)))
    }

    #[inline(always)]
    fn enqueue(&self, value: u64) {
        self.0.with(|queue| queue.push_back(value));
    }

    #[inline(always)]
    fn dequeue(&self) -> Option<u64> {
        self.0.with(VecDeque::pop_front)
    }
}

/// Operations a second, and the slowest thread's share.
pub(super) fn measure<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    run::<GuardedFifo<K>>(threads, effort)
}

/// Measures a queue that guards itself; it takes part in no other experiment.
pub(crate) fn measure_queue<Q: Fifo>(
    experiment: LockExperiment,
    threads: usize,
    effort: &TeamEffort,
) -> Option<Sample> {
    (experiment == LockExperiment::Fifo).then(|| run::<Q>(threads, effort)).flatten()
}

fn run<Q: Fifo>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    assert!(threads < CAPACITY, "each thread has at most one value in the queue");
    let queue = Q::new();
    let outcome = team::run(threads, Until::Time(effort.window), |number, turns| {
        while turns.next() {
            queue.enqueue(number as u64);
            black_box(queue.dequeue());
        }
        // A turn is two operations.
        turns.done() * 2
    });
    // Every thread takes out one value for each that it puts in, and finds at least
    // its own: none may be left.
    let left = std::iter::from_fn(|| queue.dequeue()).count();
    assert_eq!(left, 0, "{} lost the order of its operations", std::any::type_name::<Q>());
    Sample::of_rates(&outcome)
}
