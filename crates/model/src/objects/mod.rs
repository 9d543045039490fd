//! The critical sections inside a VNI: one for each object, or none if an enclosing one is enough.
//!
//! The engine says what is protected: an [`Object`] is a named kind of state, and each object of it is reached only through
//! its critical section, [`SectionOf::with`]. The [`Sectioning`] decides how:
//!
//! | | a critical section is | used under |
//! |---|---|---|
//! | [`Whole`] | nothing: only one thread can be in the VNI | all other granularities, and below `MPI_THREAD_MULTIPLE` |
//! | [`Parted`] | a separate lock, by the model's arbitration and bias | `per-object` |
//! | [`LockFree`] | the same, or one without waiting: operations are queued for the thread inside | `lock-free` |
//!
//! Code that enters critical sections is generic over the sectioning and is compiled once for each, so a section that is
//! nothing costs nothing.
//!
//! **Order.** A thread in a critical section enters only sections of a higher [`LEVEL`](Object::LEVEL), so no circle of
//! threads can wait for each other; and under [`Whole`] no object is reached through two references at once. Debug builds
//! check it, under both.

mod lock_free;
mod object;
mod order;
mod parted;
mod whole;

pub use lock_free::{LeftTo, LeftToAll, LockFree};
pub use object::{Object, SectionOf, Sectioning};
pub use parted::{Locked, Parted};
pub use whole::{Enclosed, Whole};
