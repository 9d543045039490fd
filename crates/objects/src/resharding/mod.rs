//! Messages of a process to itself, which move to other VNIs once several threads send them.
//!
//! Without promises the messages of a communicator are all on one VNI, its home, since a receive with wildcards may want any of
//! them. But what a process sends to itself it also receives: it knows of each such receive, and until the first
//! one these messages may be anywhere. So when several threads send them they are spread by tag:
//!
//! ```text
//!             threads take turns                  a wildcard, a probe
//!   TOGETHER ────────────────────▶ SPREAD ─────────────────────────────▶ SETTLED
//!   at home                        by tag                                at home, for good
//!      │                                                                    ▲
//!      └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! That is so where each VNI has a lock of its own and the calling threads run the operations. Elsewhere, and where hints say
//! how messages are mapped, they are settled from the start.
//!
//! **Order.** An operation chooses its VNI by the state, and looks at the state again inside of that VNI's section: if it is
//! another one, it starts anew. Who changes the state moves what waits, receives and messages, and is inside of the
//! home's section until all is done:
//!
//! | change | in which order | hence |
//! |---|---|---|
//! | to SPREAD | move, then change | nobody is on another VNI before what is older is there, too |
//! | to SETTLED | change, then move | nobody adds to another VNI once it was emptied; who comes home waits for the section |
//!
//! Messages with different tags are on different VNIs then, so each that is kept gets a stamp: with these they come home in the
//! order in which they were sent, as far as there is one.
//!
//! **No deadlock.** Who moves enters the sections of other VNIs inside of the home's. Nobody else is ever in two, and one
//! thread moves at a time ([`Mover`]).
//!
//! | file | idea |
//! |---|---|
//! | `layout.rs` | the state, and who changes it when |
//! | `moves.rs` | moving what waits from VNI to VNI |

mod layout;
#[cfg(all(test, loom))]
mod loom_tests;
mod moves;

pub use layout::{Layout, Route};
pub use moves::{Moved, Own, Place, next_stamp};

use heddle_platform::atomic::{AtomicBool, Ordering};
#[cfg(loom)]
use heddle_platform::loom::sync::{Mutex, MutexGuard};
use heddle_platform::statics;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

statics! {
    static MOVING: Mutex<()> = Mutex::new(());
    /// Whether messages move in this process. Written once, before there are communicators.
    static MOVES: AtomicBool = AtomicBool::new(false);
}

/// From now on messages may move: each VNI has a lock of its own, and who calls runs the operations.
pub fn allow_moves() {
    MOVES.store(true, Ordering::Relaxed);
}

/// The right to move messages between VNIs, which one thread has at a time. Outermost: it is asked for outside of all sections.
#[derive(Debug)]
pub struct Mover(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Mover {
    /// Waits for the right to move messages.
    pub fn wait() -> Mover {
        Mover(MOVING.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
