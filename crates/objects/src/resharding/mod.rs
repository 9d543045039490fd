//! Self messages, which a process sends to itself, and the VNIs that carry them.
//!
//! Without promises all messages of a communicator are on its default VNI, since a receive with wildcards may
//! match any of them. But a process also receives what it sends to itself, and knows of each such receive;
//! until the first wildcard these messages may be on any VNI. So once several threads send them, they are
//! sharded by tag:
//!
//! ```text
//!             threads take turns                  a wildcard, a probe
//!   TOGETHER ────────────────────▶ SHARDED ─────────────────────────────▶ PINNED
//!   default VNI                    by tag                                 default VNI, for good
//!      │                                                                    ▲
//!      └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! This needs a lock for each VNI, and calling threads that run their operations. Elsewhere, and on
//! communicators whose hints map their messages, self messages are pinned from the start.
//!
//! **Order.** An operation chooses its VNI by the state, and checks the state again inside of that VNI's
//! critical section; if it has changed, the operation starts again. The thread that changes the state also
//! moves posted receives and unexpected messages, and stays inside of the default VNI's critical section
//! until all is done:
//!
//! | change | order | consequence |
//! |---|---|---|
//! | to SHARDED | move, then change | nothing reaches another VNI before older operations are there |
//! | to PINNED | change, then move | nothing is added to an emptied VNI; the default VNI's section makes others wait |
//!
//! Sharded messages with different tags are on different VNIs. Each unexpected one gets a stamp, and the
//! stamps restore the order of sending when the messages are pinned, as far as there was one. Where all cores
//! share a clock they are read from it, so that threads write no common cache line.
//!
//! **No deadlock.** The moving thread enters the sections of other VNIs inside of the default VNI's. No other
//! thread is ever inside of two, and one thread moves at a time ([`Mover`]).
//!
//! | file | idea |
//! |---|---|
//! | `state.rs` | the state, and when it changes |
//! | `moves.rs` | moving messages and receives from VNI to VNI |

#[cfg(all(test, loom))]
mod loom_tests;
mod moves;
mod state;

pub use moves::{Moved, SelfMessages, Shard, next_stamp, stamp_by_clock};
pub use state::{Route, Sharding};

use heddle_platform::atomic::{AtomicBool, Ordering};
#[cfg(loom)]
use heddle_platform::loom::sync::{Mutex, MutexGuard};
use heddle_platform::statics;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

statics! {
    static MOVING: Mutex<()> = Mutex::new(());
    /// True if messages may be sharded in this process. Written once, before there are communicators.
    static MOVES: AtomicBool = AtomicBool::new(false);
}

/// Allows sharding in this process: each VNI has its lock, and calling threads run their operations.
/// To be called before communicators are made.
pub fn allow_moves() {
    MOVES.store(true, Ordering::Relaxed);
}

/// The right to move messages between VNIs, which one thread has at a time. It is the outermost lock: threads
/// wait for it outside of all critical sections.
#[derive(Debug)]
pub struct Mover(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Mover {
    /// Waits for the right to move messages.
    pub fn wait() -> Mover {
        Mover(MOVING.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
