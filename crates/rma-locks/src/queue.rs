//! One queue of the tree: a distributed MCS lock (paper, Listings 2 to 5), repaired.

use crate::layout::Layout;
use crate::rma::{Rank, Rma};

/// No node.
const NONE: u64 = 0;
/// The status of a node that waits.
const WAIT: u64 = u64::MAX;
/// The predecessor has released the parent's queue: the node has to enter that itself.
pub(crate) const ACQUIRE_PARENT: u64 = u64::MAX - 1;
/// The predecessor has let the readers in: the writer has to take the lock back.
pub(crate) const MODE_CHANGE: u64 = u64::MAX - 2;
/// The status of a node that did not get the lock from a predecessor: no passing yet. Others count the
/// passings in a row, all far below the three words above.
pub(crate) const START: u64 = 0;

/// A queue, as a process reaches it that enters at `level`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue<'a> {
    layout: &'a Layout,
    level: usize,
    node: Rank,
    tail_rank: Rank,
}

/// The result of entering a queue.
pub(crate) enum Entered {
    /// The node is the first.
    First,
    /// The node waited, and its predecessor left this status.
    Passed(u64),
}

impl<'a> Queue<'a> {
    pub(crate) fn of(layout: &'a Layout, p: Rank, level: usize) -> Queue<'a> {
        Queue { layout, level, node: layout.node(p, level), tail_rank: layout.tail_rank(p, level) }
    }

    /// The one queue of a layout of one level, whose end another process keeps than the layout says.
    pub(crate) fn at(layout: &'a Layout, p: Rank, tail_rank: Rank) -> Queue<'a> {
        Queue { tail_rank, ..Queue::of(layout, p, 1) }
    }

    /// Names a node in a word.
    fn name(node: Rank) -> u64 {
        node as u64 + 1
    }

    fn node_of(name: u64) -> Rank {
        name as Rank - 1
    }

    /// Enters the queue and waits until the node is the first.
    pub(crate) async fn enter(&self, rma: &impl Rma) -> Entered {
        let (next, status) = (self.layout.next(self.level), self.layout.status(self.level));
        rma.put(NONE, self.node, next).await;
        rma.put(WAIT, self.node, status).await;
        // Listing 2 lacks this flush: a late put would erase what the successor writes.
        rma.flush(self.node).await;
        let name = Queue::name(self.node);
        let before = rma.swap(name, self.tail_rank, self.layout.tail(self.level)).await;
        if before == NONE {
            return Entered::First;
        }
        let before = Queue::node_of(before);
        rma.put(name, before, next).await;
        rma.flush(before).await;
        Entered::Passed(rma.wait_until(self.node, status, |status| status != WAIT).await)
    }

    /// Enters the queue if no node is in it. A refused attempt has changed nothing but words of the
    /// node, which nobody reads.
    pub(crate) async fn try_enter(&self, rma: &impl Rma) -> bool {
        rma.put(NONE, self.node, self.layout.next(self.level)).await;
        // Before a successor can write there, as in enter().
        rma.flush(self.node).await;
        let (name, tail) = (Queue::name(self.node), self.layout.tail(self.level));
        rma.compare_and_swap(name, NONE, self.tail_rank, tail).await == NONE
    }

    /// The status of the node, which is the first.
    pub(crate) async fn status(&self, rma: &impl Rma) -> u64 {
        rma.get(self.node, self.layout.status(self.level)).await
    }

    /// Notes that the node holds what the queue guards, without having got it from a predecessor.
    pub(crate) async fn start(&self, rma: &impl Rma) {
        self.put_status(rma, START).await;
    }

    /// The same, with another status than that of a lock whose status counts passings alone.
    pub(crate) async fn put_status(&self, rma: &impl Rma, status: u64) {
        rma.put(status, self.node, self.layout.status(self.level)).await;
        rma.flush(self.node).await;
    }

    /// The next node, if it has made itself known.
    pub(crate) async fn successor(&self, rma: &impl Rma) -> Option<Rank> {
        let name = rma.get(self.node, self.layout.next(self.level)).await;
        (name != NONE).then(|| Queue::node_of(name))
    }

    /// Leaves the queue, if no node has come after; else waits for that one to make itself known.
    pub(crate) async fn leave(&self, rma: &impl Rma) -> Option<Rank> {
        let (name, tail) = (Queue::name(self.node), self.layout.tail(self.level));
        if rma.compare_and_swap(NONE, name, self.tail_rank, tail).await == name {
            return None;
        }
        let next = self.layout.next(self.level);
        Some(Queue::node_of(rma.wait_until(self.node, next, |name| name != NONE).await))
    }

    /// Makes `successor` the first, with this status.
    pub(crate) async fn pass(&self, rma: &impl Rma, successor: Rank, status: u64) {
        rma.put(status, successor, self.layout.status(self.level)).await;
        rma.flush(successor).await;
    }
}

/// The levels of the tree below the root, for one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'a> {
    pub(crate) layout: &'a Layout,
    /// The paper's T_L,i for the levels 2 to N.
    pub(crate) locality: &'a [u64],
    pub(crate) p: Rank,
}

impl<'a> Branch<'a> {
    pub(crate) fn root(&self) -> Queue<'a> {
        Queue::of(self.layout, self.p, 1)
    }

    pub(crate) fn queue(&self, level: usize) -> Queue<'a> {
        Queue::of(self.layout, self.p, level)
    }

    /// Climbs from level N to level 2 (Listing 4). Returns true if a predecessor has passed the whole lock
    /// on; else the caller has to enter the root.
    pub(crate) async fn climb(&self, rma: &impl Rma) -> bool {
        for level in (2..=self.layout.levels()).rev() {
            let queue = self.queue(level);
            match queue.enter(rma).await {
                Entered::Passed(status) if status != ACQUIRE_PARENT => return true,
                Entered::Passed(_) | Entered::First => queue.start(rma).await,
            }
        }
        false
    }

    /// Enters the queues of all levels, the root's included, if nobody is in them. Else leaves those that it
    /// has entered, and returns false.
    pub(crate) async fn try_climb(&self, rma: &impl Rma) -> bool {
        for level in (1..=self.layout.levels()).rev() {
            let queue = self.queue(level);
            if !queue.try_enter(rma).await {
                self.leave(rma, level + 1).await;
                return false;
            }
            queue.start(rma).await;
        }
        true
    }

    /// Passes the lock on at the lowest level where a successor waits and the passings in a row are few
    /// enough (Listing 5). Returns the levels whose queues the caller still has to [leave](Self::leave),
    /// after it has released the root if it is asked to.
    pub(crate) async fn pass(&self, rma: &impl Rma) -> Passed {
        for level in (2..=self.layout.levels()).rev() {
            let queue = self.queue(level);
            let successor = queue.successor(rma).await;
            let status = queue.status(rma).await;
            if let Some(successor) = successor
                && status < self.locality[level - 2]
            {
                queue.pass(rma, successor, status + 1).await;
                return Passed::At(level);
            }
        }
        Passed::Nowhere
    }

    /// Leaves the queues of the levels from `first` to N, after the lock was released above them.
    pub(crate) async fn leave(&self, rma: &impl Rma, first: usize) {
        for level in first..=self.layout.levels() {
            let queue = self.queue(level);
            let successor = match queue.successor(rma).await {
                Some(successor) => Some(successor),
                None => queue.leave(rma).await,
            };
            if let Some(successor) = successor {
                queue.pass(rma, successor, ACQUIRE_PARENT).await;
            }
        }
    }
}

/// Where a lock was passed on below the root.
pub(crate) enum Passed {
    /// At this level.
    At(usize),
    /// Nowhere: the caller has to release the root.
    Nowhere,
}
