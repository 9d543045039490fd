//! Locks for programs with more threads than cores, and the catalogue of them. It contains no MPI and can be
//! used alone.
//!
//! It stands on `heddle-sync`, which has the contract of a lock ([`RawLock`](heddle_sync::RawLock)), the safe
//! wrapper ([`Lock`](heddle_sync::Lock)), the plain [`Mutex`](heddle_sync::Mutex), the waiting and the queue
//! nodes; on `heddle-platform`, and for the catalogue on `heddle-topology`. `heddle-combining` and
//! `heddle-model` build on its locks, `heddle-sync-c` gives them to C, and `heddle bench locks` measures
//! them.
//!
//! | module | what it gives |
//! |---|---|
//! | [`ticket`] | [`Ticket`]: two counters, in order |
//! | [`mcs`] | [`Mcs`]: a queue of nodes, in order; each thread waits on a separate cache line |
//! | [`clh`] | [`Clh`]: a queue in which each thread polls its predecessor; released by a store; waiters may give up |
//! | [`abortable_mcs`] | [`AbortableMcs`]: waiters may give up, and those that do not run are passed over |
//! | [`hmcs`] | [`Hmcs`]: queues of cohorts within cohorts, for large machines; waiters may give up |
//! | [`fissile`] | [`Fissile`]: a word before one of these queue locks, for more threads than cores: the running thread may come again for a while |
//! | [`biased`] | [`Biased`]: any lock, free of charge while one thread uses it |
//! | [`core_biased`] | [`CoreBiased`]: any lock, nearly free of charge while the threads of one core use it |
//! | [`two_level`] | [`TwoLevel`]: two locks and a filter; the low class stands back for the high one |
//! | [`counted`] | [`Counted`]: any lock, with its acquisitions, hand-overs and times counted |
//! | [`kinds`] | the catalogue: every lock by name, made for this machine |
//! | [`machine`] | this machine's topology, and how near two of its hardware threads are |
//! | [`doorbells`] | several doorbells, so that a release of a queue lock wakes one waiter of many |
//! | `head` | the thread at the head of a queue waits for the word before the queue |
//! | `admission` | that word, with its turns, as [`Fissile`] has it |
//! | [`bias`] | [`BiasedLock`](bias::BiasedLock): what the two locks with a bias are |
//!
//! Every lock is generic over [`Platform`](heddle_platform::Platform), so the model checker runs the sources
//! that ship (`RUSTFLAGS="--cfg loom" cargo test -p heddle-locks --release --test 'loom_*'`).

pub mod abortable_mcs;
mod admission;
pub mod bias;
pub mod biased;
pub mod clh;
pub mod core_biased;
pub mod counted;
pub mod doorbells;
pub mod fissile;
mod head;
pub mod hmcs;
#[cfg(not(loom))]
pub mod kinds;
#[cfg(not(loom))]
pub mod machine;
pub mod mcs;
pub mod ticket;
pub mod two_level;

use heddle_platform::Native;

// These are for the platform of this build; the modules have the forms for any platform.
pub use biased::Biased;
pub use core_biased::CoreBiased;
pub use counted::Counted;
pub use fissile::Fissile;
pub use two_level::TwoLevel;
/// [`abortable_mcs::AbortableMcs`] of this build's platform.
pub type AbortableMcs = abortable_mcs::AbortableMcs<Native>;
/// [`clh::Clh`] of this build's platform.
pub type Clh = clh::Clh<Native>;
/// [`hmcs::Hmcs`] of this build's platform.
pub type Hmcs = hmcs::Hmcs<Native>;
/// [`mcs::Mcs`] of this build's platform.
pub type Mcs = mcs::Mcs<Native>;
/// [`ticket::Ticket`] of this build's platform.
pub type Ticket = ticket::Ticket<Native>;
