//! Thread-safety models: how threads that call MPI at the same time are kept apart.
//!
//! A model is a point in a space of choices ([`Model`]; Heddle's points have names, [`OWN`], and so have the
//! papers', [`PUBLISHED`]):
//!
//! | choice | the question it answers |
//! |---|---|
//! | [`Granularity`] | which critical section guards an object? |
//! | [`Arbitration`] | which thread enters a contended critical section next? |
//! | [`Execution`] | which thread runs an operation? |
//! | [`WakeUp`] | how does a waiter learn that its operation is complete? |
//! | [`Lifetime`] | what keeps an object alive while a request uses it? |
//!
//! The crate builds critical sections from the locks of `heddle-locks` and `heddle-sync` and from
//! `heddle-combining`. `heddle-settings` reads the choices; `heddle-message` and `heddle-comm` enter the
//! critical sections; `heddle-p2p` and `heddle-process` see whether an attempt was refused; `heddle-process`,
//! `heddle-tool` and `heddle-cli` show models and counters. [`settings!`] declares the parts of a model, and
//! in `heddle-settings` every other setting.
//!
//! The crates above say *what* is protected: a call enters the [`CallSection`] at its start, and the state of
//! a VNI is reached only through [`Guarded::with`]. *How* is decided here, once, when MPI is initialised.
//! Below `MPI_THREAD_MULTIPLE` both critical sections are nothing, except under `offload`, which brings a
//! second thread to any program.
//!
//! | granularity | critical section of a call | critical section of a VNI |
//! |---|---|---|
//! | `global` | one lock, held during every call, left while the call waits or runs a function of the program | nothing |
//! | `brief-global` | nothing | one lock for all |
//! | `per-vni` | nothing | one each: a lock, or combining, or an offload thread, as the execution says |
//! | `per-channel` | nothing | the same; a channel to a peer has a lock of its own ([`Apart`]) |
//! | `per-object` | nothing | nothing; each object inside of it has a lock ([`Sectioning`]) |
//! | `lock-free` | nothing | nothing; the same, or one without waiting ([`LockFree`]) |
//!
//! An operation is passed as a closure, so that another thread may run it.

mod choice;
pub mod counters;
mod objects;
mod path;
mod section;
mod tracepoint;

pub use choice::*;
pub use heddle_locks::kinds::LockKind;
pub use objects::{
    Apart, Enclosed, GuardedObject, LeftTo, LeftToAll, LockFree, Locked, Parted, SectionOf, Sectioning, Whole,
};
pub use path::Path;
pub use section::{Attempt, CallSection, Guarded, Objects, OffloadServer, OffloadTurn, Refusal, Sections};
pub use tracepoint::{MOST_NUMBERS, Observer, Tracepoint};
