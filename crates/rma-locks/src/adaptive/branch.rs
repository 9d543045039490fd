//! The levels below the root, for a lock whose thresholds travel with it.
//!
//! As `queue.rs` has it (Listings 4 and 5), but the status of a node is a [`Turn`]. A writer that has climbed
//! some levels notes their statuses when it has the lock, for only then it knows the thresholds; nobody reads
//! them before.

use super::setting::Bounds;
use super::turn::Turn;
use crate::queue::{ACQUIRE_PARENT, Branch, Entered};
use crate::rma::{Rank, Rma};

/// The level from which a climbing writer has the lock, and the turn there.
pub(super) struct Climbed {
    pub(super) level: usize,
    pub(super) turn: Turn,
}

/// Climbs from level N to level 2. Returns nothing if the caller has to enter the root.
pub(super) async fn climb(branch: &Branch<'_>, rma: &impl Rma) -> Option<Climbed> {
    for level in (2..=branch.layout.levels()).rev() {
        match branch.queue(level).enter(rma).await {
            Entered::Passed(status) if status != ACQUIRE_PARENT => {
                return Some(Climbed { level, turn: Turn::of(status) });
            }
            Entered::Passed(_) | Entered::First => {}
        }
    }
    None
}

/// Notes that a turn begins in the queues below the one from which the caller has the lock.
pub(super) async fn begin(branch: &Branch<'_>, rma: &impl Rma, from: Climbed) {
    let status = Turn::begins(from.turn.setting).status();
    for level in from.level + 1..=branch.layout.levels() {
        branch.queue(level).put_status(rma, status).await;
    }
}

/// Where a writer passed the lock on below the root.
pub(super) enum Released {
    /// At this level.
    At(usize),
    /// Nowhere: the caller has to release the root, and this went by since its element has it.
    Nowhere(Turn),
}

/// Passes the lock on at the lowest level where a successor waits and the threshold allows it.
pub(super) async fn pass(branch: &Branch<'_>, rma: &impl Rma, bounds: &Bounds) -> Released {
    // The caller itself.
    let mut below = Turn { writers: 1, ..Turn::default() };
    for level in (2..=branch.layout.levels()).rev() {
        let queue = branch.queue(level);
        let successor: Option<Rank> = queue.successor(rma).await;
        let mut turn = Turn::of(queue.status(rma).await).with(below);
        let most = bounds.locality(level, turn.setting);
        if let Some(successor) = successor {
            if turn.passings < most {
                queue.pass(rma, successor, turn.passed().status()).await;
                return Released::At(level);
            }
            turn.felt.locality_cut = true;
        }
        turn.felt.locality_used |= 2 * turn.passings > most;
        below = turn;
    }
    Released::Nowhere(below)
}
