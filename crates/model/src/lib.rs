//! Thread-safety models: how threads that call MPI at once are kept from treading on each other.
//!
//! The engine says *what* is protected: it enters the [`CallSection`] at the start of every MPI call and reaches the
//! state of a VNI only through [`Guarded::with`]. *How* is decided here, once, when MPI is initialised: for each model
//! one of the two is a lock and the other is nothing. Below `MPI_THREAD_MULTIPLE` both are nothing.
//!
//! | model | call section | VNI section |
//! |---|---|---|
//! | `global-mutex` | one lock for all, held during every call, released while the call waits | nothing |
//! | `per-vni-mutex` (default) | nothing | one lock each |
//!
//! An operation is handed over as a closure, so that a model may one day run it elsewhere (combining, offload).

mod choice;
mod section;

pub use choice::{Arbitration, Granularity, Model, UnknownModel};
pub use section::{CallSection, Guarded, Path};
