//! RMA-RW that tunes its parameters while it runs.
//!
//! | file | idea |
//! |---|---|
//! | `setting.rs` | [`Bounds`]: what the lock may choose; and a choice |
//! | `turn.rs` | the part of a writers' turn that has gone by, which travels with the lock |
//! | `branch.rs` | the levels below the root |
//! | `attempt.rs` | taking the lock without waiting |
//! | `tuner.rs` | measuring |
//! | `step.rs` | the steps to another setting |
//! | `climb.rs` | deciding |
//!
//! **What it tunes.** The number of counters (the paper's T_DC: more are better for readers, fewer for
//! writers, section 5.2.1); T_L,i below the root, by one factor for all levels; and T_L,1, the passings at
//! the root before the readers have their turn.
//!
//! **Objective.** The highest rate of acquisitions of all processes together, among the settings within the
//! user's [`Bounds`] that do not try the readers' [`ReaderPatience`]; of about equal rates the one with the
//! lower thresholds. The rate alone does not speak for fairness: with writers that always come again it
//! only grows with T_L,1. So the most of each threshold bounds how many writers may pass a waiting process,
//! always; and the patience bounds how long readers are kept out on average, as far as the least of each
//! threshold allows.
//!
//! **Changing.** Only the writer that lets the readers in changes the setting, which stands in a word of one
//! process. The first writer of a turn reads it there, and then it travels with the lock in the queues'
//! statuses, so one turn of writers has the same thresholds from its beginning to its end. A writer that is
//! passed the lock makes the same operations as in [`RmaRw`](crate::RmaRw); a turn of writers makes three
//! more, of which none waits for an answer while readers wait, unless a measurement ends.
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
//! 6. The setting is a word that the holder changes before it passes the root on, so a writer that is the
//!    first of the root's queue reads what is in force.
//!
//! **Fairness.** As [`RmaRw`](crate::RmaRw)'s with the most of each threshold, but a reader whose counter is
//! closed has to come again, at most once for each coarseness.

mod attempt;
mod branch;
mod climb;
mod setting;
mod step;
mod tuner;
mod turn;

pub use setting::{Bounds, ReaderPatience};

use crate::layout::Layout;
use crate::queue::{Branch, Entered, MODE_CHANGE};
use crate::rma::{Rank, Rma, Word};
use branch::{Climbed, Released};
use tuner::Tuner;
use turn::Turn;

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

/// The bits of a coarseness.
const COARSENESS_BITS: u32 = 5;

impl Reader {
    /// It as a number, so that it can stand in a word.
    #[must_use]
    pub fn word(&self) -> u64 {
        u64::from(self.coarseness | self.hint << COARSENESS_BITS)
    }

    /// What [`word`](Self::word) has made a number of; 0 stands for a process that has not read yet.
    #[must_use]
    pub fn of(word: u64) -> Reader {
        let coarseness = |bits: u64| bits as u32 & ((1 << COARSENESS_BITS) - 1);
        Reader { coarseness: coarseness(word), hint: coarseness(word >> COARSENESS_BITS) }
    }
}

/// The coarseness that was in force when the word was changed last.
fn coarseness_in(word: u64) -> u32 {
    (word >> COARSENESS) as u32 & ((1 << COARSENESS_BITS) - 1)
}

/// What to add to a counter's word for a new phase.
fn phase_after(arrived: u64) -> u64 {
    if arrived & PHASE == 0 { PHASE } else { PHASE.wrapping_neg() }
}

/// A reader-writer lock whose counters and thresholds follow the workload.
#[derive(Debug, Clone)]
pub struct AdaptiveRw {
    layout: Layout,
    bounds: Bounds,
    tuner: Tuner,
}

impl AdaptiveRw {
    /// The finest T_DC where nothing else is asked for: every process may have a counter.
    pub const COUNTER_DISTANCE: usize = 1;
    /// The most of T_L,i below the root where nothing else is asked for.
    pub const LOCALITY: u64 = 50;
    /// The most of T_L,1 where nothing else is asked for.
    pub const WRITERS: u64 = 100;

    /// The layout has the finest counters, and `bounds` the least and the most of each threshold.
    ///
    /// # Panics
    /// If the bounds do not have one range for each level from 2 on.
    pub fn new(layout: Layout, bounds: Bounds) -> AdaptiveRw {
        assert_eq!(bounds.locality.len() + 1, layout.levels(), "a threshold for each level below the first");
        let tuner = Tuner::new(&layout, &bounds);
        AdaptiveRw { layout, bounds, tuner }
    }

    /// A lock that changes its counters and thresholds at every turn of writers: for tests.
    #[doc(hidden)]
    pub fn restless(layout: Layout, bounds: Bounds) -> AdaptiveRw {
        let lock = AdaptiveRw::new(layout, bounds);
        AdaptiveRw { tuner: lock.tuner.restless(), ..lock }
    }

    /// The number of words that each process keeps.
    pub fn words(layout: &Layout) -> usize {
        AdaptiveRw::words_of(layout.levels())
    }

    /// The number of words that each process keeps with so many levels.
    pub fn words_of(levels: usize) -> usize {
        Layout::words_of(levels) + Tuner::WORDS
    }

    fn branch(&self, rma: &impl Rma) -> Branch<'_> {
        // What `Branch` itself does with thresholds is not used: they travel with the lock.
        Branch { layout: &self.layout, locality: &[], p: rma.rank() }
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
        let from = match branch::climb(&branch, rma).await {
            Some(climbed) => climbed,
            None => Climbed { level: 1, turn: self.enter_root(rma, &branch).await },
        };
        branch::begin(&branch, rma, from).await;
    }

    async fn enter_root(&self, rma: &impl Rma, branch: &Branch<'_>) -> Turn {
        match branch.root().enter(rma).await {
            Entered::Passed(status) if status != MODE_CHANGE => Turn::of(status),
            Entered::Passed(_) | Entered::First => {
                let turn = self.keep_readers_out(rma).await;
                branch.root().put_status(rma, turn.status()).await;
                turn
            }
        }
    }

    /// Ends the caller's writing. `time` is in a unit that all processes share, such as nanoseconds since
    /// some moment; it decides nothing but the setting.
    pub async fn release_write(&self, rma: &impl Rma, time: u64) {
        let branch = self.branch(rma);
        let left_from = match branch::pass(&branch, rma, &self.bounds).await {
            Released::At(level) => level + 1,
            Released::Nowhere(below) => {
                self.release_root(rma, &branch, below, time).await;
                2
            }
        };
        branch.leave(rma, left_from).await;
    }

    /// Listing 8.
    async fn release_root(&self, rma: &impl Rma, branch: &Branch<'_>, below: Turn, time: u64) {
        let root = branch.root();
        let mut turn = Turn::of(root.status(rma).await).with(below).passed();
        let mut successor = root.successor(rma).await;
        let most = self.bounds.writers(turn.setting);
        let status = if turn.passings < most && successor.is_some() {
            turn.status()
        } else {
            turn.felt.writers_cut = successor.is_some();
            turn.felt.writers_used = 2 * turn.passings > most;
            self.let_readers_in(rma, turn, time).await;
            MODE_CHANGE
        };
        if successor.is_none() {
            successor = root.leave(rma).await;
        }
        if let Some(successor) = successor {
            root.pass(rma, successor, status).await;
        }
    }

    /// Marks the open counters, then waits for the readers that had come to each before: a turn of the
    /// writers begins.
    async fn keep_readers_out(&self, rma: &impl Rma) -> Turn {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        // No reader waits yet, so this takes none of their time.
        let tally = self.tuner.tally(rma, self.tuning()).await;
        let coarseness = tally.setting.coarseness;
        let mut readers = Vec::with_capacity(self.layout.counters().len());
        for counter in self.open(coarseness) {
            readers.push(rma.fetch_add(WRITE, counter, arrive).await & COUNT);
        }
        let turn = self.tuner.begin(rma, self.tuning(), tally, readers.iter().sum()).await;
        for (counter, readers) in self.open(coarseness).zip(readers) {
            rma.wait_until(counter, depart, |gone| gone == readers).await;
        }
        rma.flush(self.tuning().0).await;
        turn
    }

    /// Takes the marks away, begins a new phase, and changes the setting if that is due.
    ///
    /// The first counter, which is always open, stands with the process that keeps the tuner's words, so its
    /// flush completes those.
    async fn let_readers_in(&self, rma: &impl Rma, turn: Turn, time: u64) {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        let coarseness = self.tuner.end(rma, self.tuning(), turn, time).await.coarseness;
        let hint = |word| u64::from(coarseness).wrapping_sub(u64::from(coarseness_in(word))) << COARSENESS;
        for (number, &counter) in self.layout.counters().iter().enumerate() {
            let is_open = |coarseness: u32| number % (1usize << coarseness) == 0;
            if is_open(turn.setting.coarseness) {
                let arrived = rma.get(counter, arrive).await;
                let gone = rma.get(counter, depart).await;
                let closed = if is_open(coarseness) { 0 } else { CLOSED };
                let change = phase_after(arrived).wrapping_add(closed).wrapping_add(hint(arrived));
                rma.add(change.wrapping_sub(WRITE).wrapping_sub(gone), counter, arrive).await;
                rma.add(gone.wrapping_neg(), counter, depart).await;
                rma.flush(counter).await;
            } else if is_open(coarseness) {
                let arrived = rma.get(counter, arrive).await;
                rma.add(hint(arrived).wrapping_sub(CLOSED), counter, arrive).await;
                rma.flush(counter).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;

    #[test]
    fn a_reader_fits_into_a_word() {
        let reader = Reader { coarseness: 31, hint: 7 };
        let same = Reader::of(reader.word());
        assert_eq!((same.coarseness, same.hint), (31, 7));
        assert_eq!(Reader::of(0).word(), Reader::default().word());
    }
}
