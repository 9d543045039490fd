//! RMA-RW: the tree of queues for writers, and counters for readers (paper, section
//! 3), in the phase-fair form.

use crate::layout::Layout;
use crate::queue::{Branch, Entered, MODE_CHANGE, Passed};
use crate::rma::{Rank, Rma};

/// A writer has the lock, or waits for the readers of this counter to go.
const WRITE: u64 = 1 << 63;
/// Changes with each writer that lets the readers in, so that a reader which waits sees that its writer has
/// gone even if the next one has come meanwhile.
const PHASE: u64 = 1 << 62;

/// A reader-writer lock. A reader touches one word of its counter to come and one to go; a writer enters the
/// tree of queues, and the first one of a phase visits all counters.
///
/// **Fairness.** Phases of readers and of writers alternate while both wait: a writer waits for the readers
/// that came before it, and the readers that come while a writer has the lock enter when it lets them in,
/// which it does after [`new`](Self::new)'s `writers` passings at the root, or when no writer waits there.
#[derive(Debug, Clone)]
pub struct RmaRw {
    layout: Layout,
    locality: Vec<u64>,
    writers: u64,
    readers: u64,
}

impl RmaRw {
    /// `locality` as for [`RmaMcs::new`](crate::RmaMcs::new); `writers` is how many times in a row the lock
    /// is passed on at the root before the readers have their turn (T_L,1: the paper's T_W is the product of
    /// all T_L,i, which counts the passings below, too).
    ///
    /// # Panics
    /// If there is not one threshold for each level from 2 on, or `writers` is 0.
    pub fn new(layout: Layout, locality: Vec<u64>, writers: u64) -> RmaRw {
        assert_eq!(locality.len() + 1, layout.levels(), "a threshold for each level below the first");
        assert!(writers > 0, "a writer passes the lock on at least once in a phase");
        RmaRw { layout, locality, writers, readers: 0 }
    }

    /// The same lock, whose writers let `readers` readers (the paper's T_R) come to their own counter after a
    /// turn of the readers has begun, before they take the lock back; 0 for none. A writer waits for them
    /// only as long as [`Rma::wait_a_while`] does: perhaps no reader wants the lock.
    #[must_use]
    pub fn with_readers(mut self, readers: u64) -> RmaRw {
        self.readers = readers;
        self
    }

    fn branch(&self, rma: &impl Rma) -> Branch<'_> {
        Branch { layout: &self.layout, locality: &self.locality, p: rma.rank() }
    }

    /// Waits until the caller may read.
    pub async fn acquire_read(&self, rma: &impl Rma) {
        let (counter, arrive) = (self.layout.counter_of(rma.rank()), self.layout.arrive());
        let phase = rma.fetch_add(1, counter, arrive).await & (WRITE | PHASE);
        if phase & WRITE != 0 {
            // The reader stays counted: the next writer waits for it.
            rma.wait_until(counter, arrive, |now| now & (WRITE | PHASE) != phase).await;
        }
    }

    /// Reads if no writer has the lock or waits for readers to go. A refused reader leaves no trace, so it
    /// is not counted before it knows.
    pub async fn try_acquire_read(&self, rma: &impl Rma) -> bool {
        let (counter, arrive) = (self.layout.counter_of(rma.rank()), self.layout.arrive());
        let mut now = rma.get(counter, arrive).await;
        while now & WRITE == 0 {
            let before = rma.compare_and_swap(now + 1, now, counter, arrive).await;
            if before == now {
                return true;
            }
            // Another reader came, or a writer.
            now = before;
        }
        false
    }

    /// Reads if no writer has the lock. Else takes the reader out again, and returns false, unless the
    /// writer lets it in before.
    #[inline]
    pub(crate) async fn visit_as_reader(&self, rma: &impl Rma) -> bool {
        let (counter, arrive) = (self.layout.counter_of(rma.rank()), self.layout.arrive());
        let before = rma.fetch_add(1, counter, arrive).await;
        if before & WRITE == 0 {
            return true;
        }
        let (marks, mut now) = (before & (WRITE | PHASE), before + 1);
        // Once the marks have changed, the next writer waits for this reader: it must not go uncounted.
        while now & (WRITE | PHASE) == marks {
            let before = rma.compare_and_swap(now - 1, now, counter, arrive).await;
            if before == now {
                return false;
            }
            now = before;
        }
        true
    }

    /// Waits a while for the caller's counter to have no mark. Returns false if it has one still.
    pub(crate) async fn wait_for_writer(&self, rma: &impl Rma) -> bool {
        let (counter, arrive) = (self.layout.counter_of(rma.rank()), self.layout.arrive());
        rma.wait_a_while(counter, arrive, |now| now & WRITE == 0).await.is_some()
    }

    /// Ends the caller's reading.
    pub async fn release_read(&self, rma: &impl Rma) {
        let counter = self.layout.counter_of(rma.rank());
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
            Entered::Passed(_) => {
                self.wait_for_readers(rma).await;
                self.take_back(rma, &branch).await;
            }
            Entered::First => self.take_back(rma, &branch).await,
        }
    }

    /// Writes if no process has the lock or waits for it.
    pub async fn try_acquire_write(&self, rma: &impl Rma) -> bool {
        let branch = self.branch(rma);
        if !branch.try_climb(rma).await {
            return false;
        }
        for (index, counter) in self.layout.counters().iter().enumerate() {
            if !self.mark_if_empty(rma, *counter).await {
                self.let_readers_in(rma, &self.layout.counters()[..index]).await;
                if let Some(successor) = branch.root().leave(rma).await {
                    branch.root().pass(rma, successor, MODE_CHANGE).await;
                }
                branch.leave(rma, 2).await;
                return false;
            }
        }
        true
    }

    /// Marks a counter if all readers that have come have gone.
    ///
    /// An attempt must not mark it else and begin a new phase without waiting for them: after two phases a
    /// slow reader would take the next writer for its own.
    async fn mark_if_empty(&self, rma: &impl Rma, counter: Rank) -> bool {
        let arrive = self.layout.arrive();
        let arrived = rma.get(counter, arrive).await;
        let gone = rma.get(counter, self.layout.depart()).await;
        arrived & !(WRITE | PHASE) == gone
            && rma.compare_and_swap(arrived | WRITE, arrived, counter, arrive).await == arrived
    }

    /// Ends the caller's writing.
    pub async fn release_write(&self, rma: &impl Rma) {
        let branch = self.branch(rma);
        let left_from = match branch.pass(rma).await {
            Passed::At(level) => level + 1,
            Passed::Nowhere => {
                self.release_root(rma, &branch).await;
                2
            }
        };
        branch.leave(rma, left_from).await;
    }

    /// Listing 8.
    async fn release_root(&self, rma: &impl Rma, branch: &Branch<'_>) {
        let root = branch.root();
        let passings = root.status(rma).await + 1;
        let mut successor = root.successor(rma).await;
        let status = if passings < self.writers && successor.is_some() {
            passings
        } else {
            self.let_all_readers_in(rma).await;
            MODE_CHANGE
        };
        if successor.is_none() {
            successor = root.leave(rma).await;
        }
        if let Some(successor) = successor {
            root.pass(rma, successor, status).await;
        }
    }

    async fn take_back(&self, rma: &impl Rma, branch: &Branch<'_>) {
        self.keep_readers_out(rma).await;
        branch.root().start(rma).await;
    }

    /// Gives the readers of the caller's counter their turn.
    pub(crate) async fn wait_for_readers(&self, rma: &impl Rma) {
        if self.readers > 0 {
            let (counter, arrive) = (self.layout.counter_of(rma.rank()), self.layout.arrive());
            let have_come = |now| now & !(WRITE | PHASE) >= self.readers;
            rma.wait_a_while(counter, arrive, have_come).await;
        }
    }

    /// Marks all counters, then waits for the readers that had come to each before.
    pub(crate) async fn keep_readers_out(&self, rma: &impl Rma) {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        let mut readers = Vec::with_capacity(self.layout.counters().len());
        for counter in self.layout.counters() {
            readers.push(rma.fetch_add(WRITE, *counter, arrive).await & !(WRITE | PHASE));
        }
        for (counter, readers) in self.layout.counters().iter().zip(readers) {
            // Not all that are counted by now: those that came later wait for this writer.
            rma.wait_until(*counter, depart, |gone| gone == readers).await;
        }
    }

    /// Takes the marks of all counters away; see [`let_readers_in`](Self::let_readers_in).
    pub(crate) async fn let_all_readers_in(&self, rma: &impl Rma) {
        self.let_readers_in(rma, self.layout.counters()).await;
    }

    /// Takes the marks of these counters away and begins a new phase. Only the process that has marked them
    /// and waited for their readers does this, so no reader goes meanwhile.
    async fn let_readers_in(&self, rma: &impl Rma, counters: &[Rank]) {
        let (arrive, depart) = (self.layout.arrive(), self.layout.depart());
        for counter in counters {
            let arrived = rma.get(*counter, arrive).await;
            let gone = rma.get(*counter, depart).await;
            let phase = if arrived & PHASE == 0 { PHASE } else { PHASE.wrapping_neg() };
            // In either order: a reader that the first word lets in may add to the
            // second one before this does.
            rma.add(phase.wrapping_sub(WRITE).wrapping_sub(gone), *counter, arrive).await;
            rma.add(gone.wrapping_neg(), *counter, depart).await;
            rma.flush(*counter).await;
        }
    }
}
