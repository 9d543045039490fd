#![cfg_attr(not(loom), allow(clippy::disallowed_types))]
//! The seam between Heddle and the machine: the one crate that names the hardware's atomics, cells, futexes,
//! barriers and clock. Everything above is written against this crate, so the sources that ship are the
//! sources that the `loom` model checker explores (`RUSTFLAGS="--cfg loom"`). It uses no other crate.
//! Where there is no memory, [`allocate`] and [`shared`] return an error.
//!
//! | module | on the machine | under `loom` |
//! |---|---|---|
//! | [`atomic`] | `std::sync::atomic` | loom's twins |
//! | [`cell`] | `UnsafeCell` | loom's, which reports every race |
//! | [`hint`], [`thread`] | `pause`, `sched_yield`, the thread pointer | a switch to another thread; a counter |
//! | [`futex`] | the system call | a blocked thread, so that a lost wake-up is a deadlock loom reports |
//! | [`barrier`] | `membarrier` | a sequentially consistent fence on both sides |
//! | [`core_claim`] | a restartable sequence, and `membarrier` against it | a mutex for each core |
//! | `core_visits` | `sched_setaffinity`, where `membarrier` is refused later | none |
//! | [`fork`] | `pthread_atfork` | none |
//! | [`background`] | threads of the library's own | none |
//! | [`clock`] | the cycle counter, `CLOCK_MONOTONIC` | stands still |
//! | [`modelled`] | constants, statics and thread-locals of atomics | their substitutes |
//! | [`per_process`](mod@per_process) | statics; in tests that play several ranks, one per rank | the same |
//! | [`allocate`], [`shared`] | vectors and shared values that a lack of memory makes an error | the same |
//! | `model` | none | runs a model, and one with a fault that has to be found |
//!
//! [`platform`] says the same as a trait, for code that other worlds, such as a simulated machine, run too.

pub mod allocate;
pub mod atomic;
#[cfg(not(loom))]
pub mod background;
pub mod barrier;
pub mod cell;
pub mod clock;
pub mod core_claim;
#[cfg(not(loom))]
mod core_visits;
#[cfg(not(loom))]
pub mod fork;
pub mod futex;
pub mod hint;
#[cfg(loom)]
pub mod model;
pub mod modelled;
mod native;
pub mod per_process;
pub mod platform;
#[cfg(not(loom))]
mod rseq;
pub mod shared;
mod slot;
pub mod thread;

#[cfg(loom)]
#[doc(hidden)]
pub use loom;
#[cfg(not(loom))]
pub use native::Hardware;
#[cfg(loom)]
pub use native::Loom;
pub use native::Native;
pub use platform::Platform;

/// The threads that take part in a wait or a barrier: those of this process, or those of all processes that
/// share the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Threads of this process only; cheaper.
    Process,
    /// Threads of any process of this machine that maps the same memory.
    Machine,
}
