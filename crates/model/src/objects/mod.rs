//! The sections inside a VNI: one for each object, or none because what encloses them all is enough.
//!
//! The engine says what is protected: an [`Object`] is a kind of state with a name of its own, and each
//! object of it is reached only through its section, [`SectionOf::with`]. How is decided by the
//! [`Sectioning`]:
//!
//! | | a section is | used under |
//! |---|---|---|
//! | [`Whole`] | nothing: the thread has the VNI to itself already | all other granularities, and below `MPI_THREAD_MULTIPLE` |
//! | [`Parted`] | a lock of its own, by the model's arbitration and bias | `per-object` |
//! | [`LockFree`] | the same, or one that nobody waits for: operations are queued for the thread inside | `lock-free` |
//!
//! Code that enters sections is generic over it and exists once for each, so that what is nothing costs
//! nothing.
//!
//! **Order.** A thread that is in a section enters only sections of a higher [`LEVEL`](Object::LEVEL), so no
//! circle of threads can wait for each other; and under [`Whole`] no object is reached through two references
//! at once. Debug builds check it, under both.

mod lock_free;
mod object;
mod order;
mod parted;
mod whole;

pub use lock_free::{LeftTo, LeftToAll, LockFree};
pub use object::{Object, SectionOf, Sectioning};
pub use parted::{Locked, Parted};
pub use whole::{Enclosed, Whole};
