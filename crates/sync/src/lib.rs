//! Waiting for programs with more threads than cores, and what threads share while they wait: a lock, events,
//! queues, pools, statistics. It contains no MPI and can be used alone.
//!
//! It stands on `heddle-platform` alone. Above it stand `heddle-locks`, which has the other locks,
//! `heddle-combining`, which runs operations for other threads, the models, the objects, the rings between
//! processes and the progress of messages.
//!
//! | folder | what it gives |
//! |---|---|
//! | `memory` | [`CachePadded`]; [`node`]: queue nodes, blocks from a cache that each thread keeps |
//! | `waiting` | [`wait`]: [`WaitPolicy`] and [`Waiter`], how long to spin, yield, and when to sleep |
//! | | [`Doorbell`]: wakes sleepers, costs the waker a load while nobody sleeps; also between processes |
//! | | [`Event`]: sleeping until a word is changed by a locked instruction; also between processes
//! | `lock` | [`raw_lock`]: [`RawLock`], the contract of every lock, and [`Lock`], the safe wrapper with guards |
//! | | [`PriorityLock`]: the contract of a lock with two classes |
//! | | [`Mutex`]: test-and-set, released by a plain store; waiters spin, yield, sleep |
//! | | [`SharedBias`]: held by many for atomic instructions, or by one for plain ones; also between processes |
//! | `events` | [`SyncCounter`]: wait for n events with one wake-up |
//! | | [`WatchedState`]: an operation's state; its end signals the [watcher](Watcher), without a lock |
//! | | [`Leadership`]: one thread polls, the others sleep on their counters |
//! | | [`Roster`]: idle serving threads sleep, one of them at a doorbell that any thread may ring |
//! | [`queues`] | [`queues::Bounded`], [`queues::Unbounded`]: many producers, one consumer |
//! | | [`queues::chain`]: nodes that many threads push and one takes as a whole |
//! | | [`queues::tasks`]: tasks that many threads advance, each by one thread at a time
//! | | [`queues::claims`]: slots of a ring in shared memory, for the many producers of one process |
//! | [`pool`] | [`Pool`](pool::Pool): objects lent from the thread's stock, exchanged in batches |
//! | [`statistics`] | counters and histograms that cost a store |
//!
//! A folder imports only from the folders that need less: `memory`, `waiting`, `lock`, then the others.
//!
//! Every algorithm is generic over [`Platform`], so the model checker runs the sources that ship
//! (`RUSTFLAGS="--cfg loom" cargo test -p heddle-sync --release --test 'loom_*'`).

mod events;
mod lock;
mod memory;
pub mod pool;
pub mod queues;
pub mod statistics;
mod waiting;

pub use events::{leader, roster, sync_counter, watched_state};
pub use lock::{PriorityLock, mutex, raw_lock, shared_bias};
pub use memory::{node, padded};
pub use waiting::event::Event;
pub use waiting::{doorbell, event, wait};

pub use heddle_platform::{Native, Platform, Scope};
pub use padded::CachePadded;
pub use raw_lock::{Guard, Lock, RawLock, TimedLock};
pub use shared_bias::{SharedBias, SharedMarks};
pub use wait::{Next, WaitPolicy};

// These are for the platform of this build; the modules have the forms for any platform.
/// [`doorbell::Doorbell`] of this build's platform.
pub type Doorbell = doorbell::Doorbell<Native>;
/// [`doorbell::DoorbellTicket`] of this build's platform.
pub type DoorbellTicket<'a> = doorbell::DoorbellTicket<'a, Native>;
/// [`leader::Leadership`] of this build's platform.
pub type Leadership = leader::Leadership<Native>;
/// [`mutex::Mutex`] of this build's platform.
pub type Mutex = mutex::Mutex<Native>;
/// [`roster::Roster`] of this build's platform.
pub type Roster = roster::Roster<Native>;
/// [`sync_counter::SyncCounter`] of this build's platform.
pub type SyncCounter = sync_counter::SyncCounter<Native>;
/// [`wait::Waiter`] of this build's platform.
pub type Waiter = wait::Waiter<Native>;
/// [`watched_state::WatchedState`] of this build's platform.
pub type WatchedState = watched_state::WatchedState<Native>;
/// [`watched_state::Watcher`] of this build's platform.
pub type Watcher = watched_state::Watcher<Native>;
