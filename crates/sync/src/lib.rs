//! Locks and waiting for programs with more threads than cores: no MPI in it, usable alone.
//!
//! | room | what it gives |
//! |---|---|
//! | [`raw_lock`] | [`RawLock`], the contract of every lock here, and [`Lock`], the safe wrapper with guards |
//! | [`mutex`] | [`Mutex`]: test-and-set, released by a plain store; waiters spin, yield, sleep |
//! | [`hmcs`] | [`Hmcs`]: queues of cohorts within cohorts, for large machines; [`TimedLock`] |
//! | [`biased`] | [`Biased`]: any lock, free of charge while one thread uses it |
//! | [`bell`] | [`Bell`]: wakes sleepers, costs the waker a load while nobody sleeps; also between processes |
//! | [`wait`] | [`WaitPolicy`] and [`Waiter`]: how long to spin, yield, and when to sleep |
//! | [`padded`] | [`CachePadded`] |
//!
//! Every algorithm is generic over [`Platform`], so the model checker runs the sources that ship
//! (`RUSTFLAGS="--cfg loom" cargo test -p heddle-sync --release --test 'loom_*'`).

pub mod bell;
pub mod biased;
#[doc(hidden)]
pub mod fault;
pub mod hmcs;
pub mod mutex;
pub mod padded;
pub mod raw_lock;
pub mod wait;

pub use heddle_platform::{Native, Platform, Scope};
pub use padded::CachePadded;
pub use raw_lock::{Guard, Lock, RawLock, TimedLock};
pub use wait::{Next, WaitPolicy};

// On the platform of this build; the modules have the forms for any platform.
pub use biased::Biased;
/// [`bell::Bell`] of this build's platform.
pub type Bell = bell::Bell<Native>;
/// [`bell::Ticket`] of this build's platform.
pub type Ticket<'a> = bell::Ticket<'a, Native>;
/// [`hmcs::Hmcs`] of this build's platform.
pub type Hmcs = hmcs::Hmcs<Native>;
/// [`mutex::Mutex`] of this build's platform.
pub type Mutex = mutex::Mutex<Native>;
/// [`wait::Waiter`] of this build's platform.
pub type Waiter = wait::Waiter<Native>;
