//! Locks and waiting for programs with more threads than cores. It contains no MPI and can be used alone.
//!
//! | folder | what it gives |
//! |---|---|
//! | `lock` | [`raw_lock`]: [`RawLock`], the contract of every lock, and [`Lock`], the safe wrapper with guards |
//! | | [`PriorityLock`]: the contract of a lock with two classes |
//! | | [`Mutex`]: test-and-set, released by a plain store; waiters spin, yield, sleep |
//! | `locks` | [`Ticket`]: two counters, in order |
//! | | [`Mcs`]: a queue of nodes, in order; each thread waits on a separate cache line |
//! | | [`Clh`]: a queue in which each thread polls its predecessor; released by a store; waiters may give up |
//! | | [`AbortableMcs`]: waiters may give up, and those that do not run are passed over |
//! | | [`Hmcs`]: queues of cohorts within cohorts, for large machines; waiters may give up |
//! | | [`Fissile`]: a word before these five, for more threads than cores: the running thread may come again for a while |
//! | | [`Biased`]: any lock, free of charge while one thread uses it |
//! | | [`CoreBiased`]: any lock, nearly free of charge while the threads of one core use it |
//! | | [`TwoLevel`]: two locks and a filter; the low class stands back for the high one |
//! | [`kinds`] | the catalogue: every lock by name, made for this machine |
//! | `waiting` | [`wait`]: [`WaitPolicy`] and [`Waiter`], how long to spin, yield, and when to sleep |
//! | | [`Doorbell`]: wakes sleepers, costs the waker a load while nobody sleeps; also between processes |
//! | | [`marks`]: waiting for words that are changed by locked instructions |
//! | | [`doorbells`]: several doorbells, so that a release wakes one waiter of many |
//! | `events` | [`SyncCounter`]: wait for n events with one wake-up |
//! | | [`WatchedState`]: an operation's state; its end signals the [watcher](Watcher), without a lock |
//! | | [`Leadership`]: one thread polls, the others sleep on their counters |
//! | | [`Roster`]: idle serving threads sleep, one of them at a doorbell that any thread may ring |
//! | [`queues`] | [`queues::Bounded`], [`queues::Unbounded`]: many producers, one consumer |
//! | | [`queues::chain`]: nodes that many threads push and one takes as a whole |
//! | | [`queues::claims`]: slots of a ring in shared memory, for the many producers of one process |
//! | [`pool`] | [`Pool`](pool::Pool): objects lent from the thread's stock, exchanged in batches |
//! | [`statistics`] | counters and histograms that cost a store; [`Counted`](statistics::Counted): any lock, counted |
//! | `memory` | [`CachePadded`]; [`node`]: queue nodes, blocks from a cache that each thread keeps |
//!
//! A folder imports only from the folders that need less: `memory`, `waiting`, `lock`, `locks`, then the others.
//! Operations that the thread inside runs for others are in `heddle-combining`, above this crate.
//!
//! Every algorithm is generic over [`Platform`], so the model checker runs the sources that ship
//! (`RUSTFLAGS="--cfg loom" cargo test -p heddle-sync --release --test 'loom_*'`).

mod events;
#[cfg(not(loom))]
pub mod kinds;
mod lock;
mod locks;
mod memory;
pub mod pool;
pub mod queues;
pub mod statistics;
mod waiting;

pub use events::{leader, roster, sync_counter, watched_state};
pub use lock::{PriorityLock, mutex, raw_lock};
pub use locks::{abortable_mcs, biased, clh, core_biased, fissile, hmcs, mcs, ticket, two_level};
pub use memory::{node, padded};
pub use waiting::marks::{ParkingSpot, WaitMarks};
pub use waiting::{doorbell, doorbells, marks, wait};

pub use heddle_platform::{Native, Platform, Scope};
pub use padded::CachePadded;
pub use raw_lock::{Guard, Lock, RawLock, TimedLock};
pub use wait::{Next, WaitPolicy};

// These are for the platform of this build; the modules have the forms for any platform.
pub use biased::Biased;
pub use core_biased::CoreBiased;
pub use fissile::Fissile;
pub use two_level::TwoLevel;
/// [`abortable_mcs::AbortableMcs`] of this build's platform.
pub type AbortableMcs = abortable_mcs::AbortableMcs<Native>;
/// [`doorbell::Doorbell`] of this build's platform.
pub type Doorbell = doorbell::Doorbell<Native>;
/// [`doorbell::Ticket`] of this build's platform.
pub type DoorbellTicket<'a> = doorbell::Ticket<'a, Native>;
/// [`clh::Clh`] of this build's platform.
pub type Clh = clh::Clh<Native>;
/// [`hmcs::Hmcs`] of this build's platform.
pub type Hmcs = hmcs::Hmcs<Native>;
/// [`leader::Leadership`] of this build's platform.
pub type Leadership = leader::Leadership<Native>;
/// [`mcs::Mcs`] of this build's platform.
pub type Mcs = mcs::Mcs<Native>;
/// [`mutex::Mutex`] of this build's platform.
pub type Mutex = mutex::Mutex<Native>;
/// [`roster::Roster`] of this build's platform.
pub type Roster = roster::Roster<Native>;
/// [`sync_counter::SyncCounter`] of this build's platform.
pub type SyncCounter = sync_counter::SyncCounter<Native>;
/// [`ticket::Ticket`] of this build's platform.
pub type Ticket = ticket::Ticket<Native>;
/// [`wait::Waiter`] of this build's platform.
pub type Waiter = wait::Waiter<Native>;
/// [`watched_state::WatchedState`] of this build's platform.
pub type WatchedState = watched_state::WatchedState<Native>;
/// [`watched_state::Watcher`] of this build's platform.
pub type Watcher = watched_state::Watcher<Native>;
