//! RMA-RW that tunes its counters while it runs.
//!
//! More counters are better for readers, fewer for writers (the paper's T_DC, section 5.2.1), and the best
//! number depends on the machine and on the share of writers. Here counters are opened and closed at run
//! time, so that the number of acquisitions a second grows (`tuner.rs` decides). The rest is
//! [`RmaRw`](crate::RmaRw).
//!
//! **Opening and closing.** The counters of the layout are numbered from 0. At coarseness k those whose
//! number is a multiple of 2^k are open, and a reader uses the open one below its own. Only the writer that
//! has the lock changes the coarseness, when it lets the readers in.
//!
//! 1. A reader that enters is counted at an open counter, and has been since before any writer marked it.
//! 2. A writer that has the lock has marked all open counters, and all readers that were counted there
//!    before have gone. So nobody is inside when a counter is closed; some may wait.
//! 3. One operation takes the mark of a counter away, begins a new phase and closes it. A reader that waited
//!    there sees that, counts itself as gone, and comes to the next coarser counter; so does one that comes
//!    later. A closed counter therefore has as many gone as come, but for readers on their way.
//! 4. Opening takes the bit away and nothing else. A reader that waited since before the closing, and missed
//!    it, sees another phase and enters: it is still counted, and the next writer waits for it. Until then
//!    the phase of this counter does not change again.
//! 5. A counter's word holds the coarseness of its last change. Readers take it for a hint: they may use any
//!    open counter.
//! 6. The coarseness is a word that the holder changes before it passes the root on, so a writer that is the
//!    first of the root's queue reads what is in force.
//!
//! **Fairness.** As [`RmaRw`](crate::RmaRw)'s, but a reader whose counter is closed has to come again, at
//! most once for each coarseness.

use crate::layout::Layout;
use crate::queue::{Branch, Entered, MODE_CHANGE, Passed};
use crate::rma::{Rank, Rma, Word};
use crate::tuner::{Tally, Tuner};

/// A writer has the lock, or waits for the readers of this counter to go.
const WRITE: u64 = 1 << 63;
/// Changes with each writer that lets the readers in.
const PHASE: u64 = 1 << 62;
/// Readers have to use a coarser counter.
const CLOSED: u64 = 1 << 61;
/// What says whether a reader may enter.
const MARKS: u64 = WRITE | PHASE | CLOSED;
/// The coarseness in force, a hint for readers: it stands in five bits from here.
const COARSENESS: u32 = 56;
/// The readers that are counted.
const COUNT: u64 = (1 << COARSENESS) - 1;

/// What a process remembers as a reader.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    /// Of the counter where it is counted, or was last.
    coarseness: u32,
    /// Of the next one.
    hint: u32,
}

/// The coarseness that was in force when the word was changed last.
fn coarseness_in(word: u64) -> u32 {
    (word >> COARSENESS) as u32 & 31
}

/// A reader-writer lock whose number of counters follows the workload.
#[derive(Debug, Clone)]
pub struct AdaptiveRw {
    layout: Layout,
    locality: Vec<u64>,
    writers: u64,
    tuner: Tuner,
}

impl AdaptiveRw {
    /// `locality` and `writers` as for [`RmaRw::new`](crate::RmaRw::new). The layout has the finest counters.
    /// The lock measures its rate over `turns` turns of writers at a time.
    ///
    /// # Panics
    /// As [`RmaRw::new`](crate::RmaRw::new), or if `turns` is 0 or 2^16 or more.
    pub fn new(layout: Layout, locality: Vec<u64>, writers: u64, turns: u32) -> AdaptiveRw {
        assert_eq!(locality.len() + 1, layout.levels(), "a threshold for each level below the first");
        assert!(writers > 0, "a writer passes the lock on at least once in a phase");
        assert!((1..1 << 16).contains(&turns), "a rate is measured over some turns");
        let coarsest = layout.counters().len().ilog2();
        AdaptiveRw { layout, locality, writers, tuner: Tuner { coarsest, turns } }
    }

    /// A lock that changes its number of counters at every turn of writers: for tests.
    #[doc(hidden)]
    pub fn restless(layout: Layout, locality: Vec<u64>, writers: u64) -> AdaptiveRw {
        let lock = AdaptiveRw::new(layout, locality, writers, 1);
        AdaptiveRw { tuner: Tuner { turns: 0, ..lock.tuner }, ..lock }
    }

    /// The number of words that each process keeps.
    pub fn words(layout: &Layout) -> usize {
        layout.words() + Tuner::WORDS
    }

    fn branch(&self, rma: &impl Rma) -> Branch<'_> {
        Branch { layout: &self.layout, locality: &self.locality, p: rma.rank() }
    }

    /// The process that keeps the tuner's words, and the first of them.
    fn tuning(&self) -> (Rank, Word) {
        (self.layout.tail_rank(0, 1), self.layout.words())
    }

    /// The open counter of process `p`.
    fn counter(&self, p: Rank, coarseness: u32) -> Rank {
        let counters = self.layout.counters();
        let own = counters.partition_point(|counter| *counter <= p) - 1;
        counters[own >> coarseness << coarseness]
    }

    /// The counters that are open at a coarseness.
    fn open(&self, coarseness: u32) -> impl Iterator<Item = Rank> {
        self.layout.counters().iter().step_by(1 << coarseness).copied()
    }

    /// Waits until the caller may read.
    pub async fn acquire_read(&self, rma: &impl Rma, reader: &mut Reader) {
        let arrive = self.layout.arrive();
        reader.coarseness = reader.hint;
        loop {
            let counter = self.counter(rma.rank(), reader.coarseness);
            let mut word = rma.fetch_add(1, counter, arrive).await;
            if word & WRITE != 0 {
                let before = word & MARKS;
                // The reader stays counted: the next writer waits for it.
                word = rma.wait_until(counter, arrive, |now| now & MARKS != before).await;
            }
            if word & CLOSED == 0 {
                reader.hint = coarseness_in(word);
                return;
            }
            self.count_as_gone(rma, counter).await;
            reader.coarseness = coarseness_in(word).max(reader.coarseness + 1);
        }
    }

    /// Ends the caller's reading.
    pub async fn release_read(&self, rma: &impl Rma, reader: &Reader) {
        self.count_as_gone(rma, self.counter(rma.rank(), reader.coarseness)).await;
    }

    async fn count_as_gone(&self, rma: &impl Rma, counter: Rank) {
        rma.add(1, counter, self.layout.depart()).await;
        rma.flush(counter).await;
    }

    /// Waits until the caller may write.
    pub async fn acquire_write(&self, rma: &impl Rma) {
        let branch = self.branch(rma);
        if branch.climb(rma).await {
            return;
        }
        match branch.root().enter(rma).await {
            Entered::Passed(status) if status != MODE_CHANGE => {}
            Entered::Passed(_) | Entered::First => {
                self.keep_readers_out(rma).await;
                branch.root().start(rma).await;
            }
        }
    }

    /// Ends the caller's writing. `time` is in a unit that all processes share, such as nanoseconds since
    /// some moment; it decides nothing but the number of counters.
    pub async fn release_write(&self, rma: &impl Rma, time: u64) {
        let branch = self.branch(rma);
        let left_from = match branch.pass(rma).await {
            Passed::At(level) => level + 1,
            Passed::Nowhere => {
                self.release_root(rma, &branch, time).await;
                2
            }
        };
        branch.leave(rma, left_from).await;
    }

    /// Listing 8.
    async fn release_root(&self, rma: &impl Rma, branch: &Branch<'_>, time: u64) {
        let root = branch.root();
        let passings = root.status(rma).await + 1;
        let mut successor = root.successor(rma).await;
        let status = if passings < self.writers && successor.is_some() {
            passings
        } else {
            self.let_readers_in(rma, passings, time).await;
            MODE_CHANGE
        };
        if successor.is_none() {
            successor = root.leave(rma).await;
        }
        if let Some(successor) = successor {
            root.pass(rma, successor, status).await;
        }
    }

    async fn tally(&self, rma: &impl Rma) -> Tally {
        let (home, word) = self.tuning();
        Tally::of(rma.get(home, word).await)
    }

    /// Marks the open counters, then waits for the readers that had come to each before.
    async fn keep_readers_out(&self, rma: &impl Rma) {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        let coarseness = self.tally(rma).await.coarseness;
        let mut readers = Vec::with_capacity(self.layout.counters().len());
        for counter in self.open(coarseness) {
            readers.push(rma.fetch_add(WRITE, counter, arrive).await & COUNT);
        }
        for (counter, readers) in self.open(coarseness).zip(readers) {
            rma.wait_until(counter, depart, |gone| gone == readers).await;
        }
    }

    /// Takes the marks away, begins a new phase, and opens or closes counters if that is due.
    async fn let_readers_in(&self, rma: &impl Rma, writers: u64, time: u64) {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        let (home, word) = self.tuning();
        let tally = self.tally(rma).await;
        let coarseness = self.tuner.decide(rma, (home, word), tally, time).await;
        let hint = |word| u64::from(coarseness).wrapping_sub(u64::from(coarseness_in(word))) << COARSENESS;
        let mut readers = 0;
        for (number, &counter) in self.layout.counters().iter().enumerate() {
            let is_open = |coarseness: u32| number % (1usize << coarseness) == 0;
            if is_open(tally.coarseness) {
                let arrived = rma.get(counter, arrive).await;
                let gone = rma.get(counter, depart).await;
                let phase = if arrived & PHASE == 0 { PHASE } else { PHASE.wrapping_neg() };
                let closed = if is_open(coarseness) { 0 } else { CLOSED };
                let change = phase.wrapping_add(closed).wrapping_add(hint(arrived));
                rma.add(change.wrapping_sub(WRITE).wrapping_sub(gone), counter, arrive).await;
                rma.add(gone.wrapping_neg(), counter, depart).await;
                rma.flush(counter).await;
                readers += gone;
            } else if is_open(coarseness) {
                let arrived = rma.get(counter, arrive).await;
                rma.add(hint(arrived).wrapping_sub(CLOSED), counter, arrive).await;
                rma.flush(counter).await;
            }
        }
        self.tuner.count(rma, (home, word), tally, coarseness, readers + writers).await;
    }
}
