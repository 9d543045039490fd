//! A lock of any kind over the words of a window.

use crate::adaptive::AdaptiveLock;
use crate::kind::Kind;
use crate::options::Settings;
use crate::words::Words;
use heddle_rma_locks::{Bounds, Layout, QueueRw, Rank, RmaMcs, RmaRw, SimpleRw, Spin, now};

/// A lock over the words of a window. A process is one participant: its threads take turns at it, except for
/// reading where [`Kind::reads_by_node`] is false.
#[derive(Debug)]
pub(crate) struct RemoteLock {
    algorithm: Algorithm,
    home: Rank,
}

#[derive(Debug)]
enum Algorithm {
    RmaRw(RmaRw),
    Mcs(RmaMcs),
    Spin(Spin),
    Rw(SimpleRw),
    QueueRw(QueueRw),
    Adaptive(AdaptiveLock),
}

/// The attempts of the first process of a `queue-rw` lock before it reserves the lock.
const ATTEMPTS: u32 = 16;

impl RemoteLock {
    /// The lock of this kind, and the number of words that it needs at each process.
    pub(crate) fn new(settings: &Settings, elements: Vec<Vec<usize>>) -> (RemoteLock, usize) {
        let home = settings.home;
        let processes = elements[0].len();
        let (algorithm, words) = match settings.kind {
            Kind::RmaRw => {
                let layout = Layout::new(elements, settings.counter_distance);
                let (words, locality) = (layout.words(), settings.locality(layout.levels()));
                let lock = RmaRw::new(layout, locality, settings.writers);
                (Algorithm::RmaRw(lock.with_readers(settings.readers)), words)
            }
            Kind::RmaMcs | Kind::DMcs => {
                let layout = Layout::new(elements, processes);
                let (words, locality) = (layout.words(), settings.locality(layout.levels()));
                (Algorithm::Mcs(RmaMcs::new(layout, locality)), words)
            }
            Kind::Spin => (Algorithm::Spin(Spin { home, word: 0 }), 1),
            Kind::Rw => (Algorithm::Rw(SimpleRw { home, word: 0 }), 1),
            Kind::Adaptive => {
                let layout = Layout::new(elements, settings.counter_distance);
                let locality = settings.locality(layout.levels());
                let bounds = Bounds::up_to(&locality, settings.writers, settings.patience);
                let (lock, words) = AdaptiveLock::new(layout, bounds);
                (Algorithm::Adaptive(lock), words)
            }
            Kind::QueueRw => {
                (Algorithm::QueueRw(QueueRw::new(processes, ATTEMPTS)), QueueRw::words(processes))
            }
        };
        (RemoteLock { algorithm, home }, words)
    }

    pub(crate) fn acquire(&self, words: &Words, shared: bool) {
        match &self.algorithm {
            Algorithm::RmaRw(lock) if shared => now(lock.acquire_read(words)),
            Algorithm::RmaRw(lock) => now(lock.acquire_write(words)),
            Algorithm::Mcs(lock) => now(lock.acquire(words)),
            Algorithm::Spin(lock) => now(lock.acquire(words)),
            Algorithm::Rw(lock) if shared => now(lock.acquire_read(words)),
            Algorithm::Rw(lock) => now(lock.acquire_write(words)),
            Algorithm::QueueRw(lock) if shared => now(lock.acquire_read(words, self.home)),
            Algorithm::QueueRw(lock) => now(lock.acquire_write(words, self.home)),
            Algorithm::Adaptive(lock) => lock.acquire(words, shared),
        }
    }

    pub(crate) fn try_acquire(&self, words: &Words, shared: bool) -> bool {
        match &self.algorithm {
            Algorithm::RmaRw(lock) if shared => now(lock.try_acquire_read(words)),
            Algorithm::RmaRw(lock) => now(lock.try_acquire_write(words)),
            Algorithm::Mcs(lock) => now(lock.try_acquire(words)),
            Algorithm::Spin(lock) => now(lock.try_acquire(words)),
            Algorithm::Rw(lock) if shared => now(lock.try_acquire_read(words)),
            Algorithm::Rw(lock) => now(lock.try_acquire_write(words)),
            Algorithm::QueueRw(lock) if shared => now(lock.try_acquire_read(words, self.home)),
            Algorithm::QueueRw(lock) => now(lock.try_acquire_write(words, self.home)),
            Algorithm::Adaptive(lock) => lock.try_acquire(words, shared),
        }
    }

    pub(crate) fn release(&self, words: &Words, shared: bool) {
        match &self.algorithm {
            Algorithm::RmaRw(lock) if shared => now(lock.release_read(words)),
            Algorithm::RmaRw(lock) => now(lock.release_write(words)),
            Algorithm::Mcs(lock) => now(lock.release(words)),
            Algorithm::Spin(lock) => now(lock.release(words)),
            Algorithm::Rw(lock) if shared => now(lock.release_read(words)),
            Algorithm::Rw(lock) => now(lock.release_write(words)),
            Algorithm::QueueRw(lock) if shared => now(lock.release_read(words, self.home)),
            Algorithm::QueueRw(lock) => now(lock.release_write(words, self.home)),
            Algorithm::Adaptive(lock) => lock.release(words, shared),
        }
    }
}
