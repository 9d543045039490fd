//! Locks and waiting for programs with more threads than cores: no MPI in it, usable alone.
//!
//! | room | what it gives |
//! |---|---|
//! | [`raw_lock`] | [`RawLock`], the contract of every lock here, and [`Lock`], the safe wrapper with guards |
//! | [`mutex`] | [`Mutex`]: test-and-set, released by a plain store; waiters spin, yield, sleep |
//! | [`biased`] | [`Biased`]: any lock, free of charge while one thread uses it |
//! | [`bell`] | [`Bell`]: wakes sleepers, costs the waker a load while nobody sleeps; also between processes |
//! | [`wait`] | [`WaitPolicy`] and [`Waiter`]: how long to spin, yield, and when to sleep |
//! | [`padded`] | [`CachePadded`] |
//!
//! Everything is written against `heddle_platform`, so the model checker runs the sources that ship
//! (`RUSTFLAGS="--cfg loom" cargo test -p heddle-sync --release --test 'loom_*'`).

pub mod bell;
pub mod biased;
#[doc(hidden)]
pub mod fault;
pub mod mutex;
pub mod padded;
pub mod raw_lock;
pub mod wait;

pub use bell::{Bell, Ticket};
pub use biased::Biased;
pub use heddle_platform::Scope;
pub use mutex::Mutex;
pub use padded::CachePadded;
pub use raw_lock::{Guard, Lock, RawLock};
pub use wait::{Next, WaitPolicy, Waiter};
