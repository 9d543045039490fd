//! Locks and waiting for programs with more threads than cores: no MPI in it, usable alone.
//!
//! | room | what it gives |
//! |---|---|
//! | [`raw_lock`] | [`RawLock`], the contract of every lock here, and [`Lock`], the safe wrapper with guards |
//! | [`mutex`] | [`Mutex`]: test-and-set, released by a plain store; waiters spin, yield, sleep |
//! | [`ticket`] | [`Ticket`]: two counters, in order |
//! | [`mcs`] | [`Mcs`]: a queue of nodes, in order, each waits on its own line |
//! | [`clh`] | [`Clh`]: a queue in which each looks at its predecessor; released by a store; waiters may give up |
//! | [`abortable_mcs`] | [`AbortableMcs`]: waiters may give up, and those that do not run are passed over |
//! | [`hmcs`] | [`Hmcs`]: queues of cohorts within cohorts, for large machines; waiters may give up |
//! | [`fissile`] | [`Fissile`]: what makes these five usable with more threads than cores: the running thread may come again for a bounded time. `StrictMcs` and its like go without |
//! | [`biased`] | [`Biased`]: any lock, free of charge while one thread uses it |
//! | [`two_level`] | [`TwoLevel`]: two locks and a filter; the low class stands back for the high one |
//! | [`sync_counter`] | [`SyncCounter`]: wait for n events with one wake-up |
//! | [`watched_state`] | [`WatchedState`]: an operation's state; its end signals who [watches](Watcher) it, without a lock |
//! | [`leader`] | [`Leadership`]: one thread polls, the others sleep on their counters |
//! | [`roster`] | [`Roster`]: of several serving threads the idle ones sleep, and one of them at a door that anybody may ring |
//! | [`pool`] | [`Pool`](pool::Pool): objects lent out from the thread's own stock, exchanged in batches |
//! | [`statistics`] | counters and histograms that cost a store; [`Counted`](statistics::Counted): any lock, counted |
//! | [`bell`] | [`Bell`]: wakes sleepers, costs the waker a load while nobody sleeps; also between processes |
//! | [`bells`] | a few bells, to wake one waiter of many by name |
//! | [`wait`] | [`WaitPolicy`] and [`Waiter`]: how long to spin, yield, and when to sleep |
//! | [`node`] | queue nodes: blocks from a cache that each thread keeps |
//! | [`combining`] | [`Combining`]: a value whose operations are run by the caller, by the lock's holder ([`LockQueue`], [`DsmSynch`]) or by a thread for it ([`Offload`]) |
//! | [`combining::delegated`] | [`Delegated`]: the same, and nobody who posts ever waits |
//! | [`queue`] | [`queue::Bounded`] and [`queue::Unbounded`]: many producers, one consumer |
//! | [`claims`] | places in a ring in shared memory, for the many producers of one process |
//! | [`padded`] | [`CachePadded`] |
//!
//! Every algorithm is generic over [`Platform`], so the model checker runs the sources that ship
//! (`RUSTFLAGS="--cfg loom" cargo test -p heddle-sync --release --test 'loom_*'`).

pub mod abortable_mcs;
mod admission;
pub mod bell;
pub mod bells;
pub mod biased;
pub mod claims;
pub mod clh;
pub mod combining;
#[doc(hidden)]
pub mod fault;
pub mod fissile;
mod head;
pub mod hmcs;
pub mod leader;
pub mod mcs;
pub mod mutex;
pub mod node;
pub mod padded;
pub mod pool;
pub mod queue;
pub mod raw_lock;
pub mod roster;
pub mod statistics;
pub mod sync_counter;
pub mod ticket;
pub mod two_level;
pub mod wait;
pub mod watched_state;

pub use combining::{Combining, LockQueue};
pub use heddle_platform::{Native, Platform, Scope};
pub use padded::CachePadded;
pub use raw_lock::{Guard, Lock, RawLock, TimedLock};
pub use wait::{Next, WaitPolicy};

// On the platform of this build; the modules have the forms for any platform.
pub use biased::Biased;
pub use fissile::Fissile;
pub use two_level::{PriorityLock, TwoLevel};
/// [`abortable_mcs::AbortableMcs`] of this build's platform.
pub type AbortableMcs = abortable_mcs::AbortableMcs<Native>;
/// [`bell::Bell`] of this build's platform.
pub type Bell = bell::Bell<Native>;
/// [`bell::Ticket`] of this build's platform.
pub type BellTicket<'a> = bell::Ticket<'a, Native>;
/// [`clh::Clh`] of this build's platform.
pub type Clh = clh::Clh<Native>;
/// [`combining::Delegated`] of this build's platform.
pub type Delegated<T> = combining::Delegated<T, Native>;
/// [`combining::DsmSynch`] of this build's platform.
pub type DsmSynch<T> = combining::DsmSynch<T, Native>;
/// [`hmcs::Hmcs`] of this build's platform.
pub type Hmcs = hmcs::Hmcs<Native>;
/// [`leader::Leadership`] of this build's platform.
pub type Leadership = leader::Leadership<Native>;
/// LockQ over [`StrictMcs`](mcs::StrictMcs): LockQ-MCS. Who may come again is LockQ's own affair.
pub type LockQueueMcs<T> = LockQueue<mcs::StrictMcs<Native>, T>;
/// LockQ over [`Mutex`]: LockQ-MTX.
pub type LockQueueMutex<T> = LockQueue<Mutex, T>;
/// [`mcs::Mcs`] of this build's platform.
pub type Mcs = mcs::Mcs<Native>;
/// [`mutex::Mutex`] of this build's platform.
pub type Mutex = mutex::Mutex<Native>;
/// [`combining::Offload`] of this build's platform.
pub type Offload<T> = combining::Offload<T, Native>;
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
