//! Ways to run an operation on a shared value: by the caller, by the thread that has the lock at the moment,
//! or by a dedicated thread. It contains no MPI and can be used alone.
//!
//! It stands on the mutex, the waiting, the queue nodes and the [chain](heddle_sync::queues::chain) of
//! `heddle-sync`, on MCS from `heddle-locks`, and on `heddle-platform`; none of them knows it. `heddle-model`
//! builds critical sections from it, `heddle-sync-c` gives it to C, and `heddle bench locks` measures it.
//!
//! | type | an operation is run by | `run` | `post` |
//! |---|---|---|---|
//! | [`Lock`] | the caller, under the lock | waits for the lock | the same |
//! | [`DsmSynch`] | the caller, or a thread before it in the queue | waits for the result | the same |
//! | [`LockQueue`] | the caller if the lock is free, else the lock's holder | waits for the result | leaves at once |
//! | [`Offload`] | one dedicated thread | waits for the result | leaves at once |
//!
//! All of them are [`Combining`], so a user is written once. Combining pays when the value's cache lines
//! would otherwise travel with every operation: the combiner keeps them and runs a batch.
//!
//! Beside them stands [`Delegated`]. It is like [`LockQueue`], but a post never waits, whatever happens to
//! the others; operations that no thread has run yet are then left behind, and its user sees to them.
//!
//! | file | content |
//! |---|---|
//! | [`dsm_synch`], [`lock_queue`], [`offload`], [`delegated`] | the algorithms: sources, invariants |
//! | `combining.rs` | [`Combining`], what they have in common; a lock as its simplest form |
//! | `offload_thread.rs` | [`OffloadThread`]: an offload with a thread of its own |
//! | `request.rs` | an operation on the stack of the thread that waits for its result, and the wait |
//! | `posted.rs` | an operation for which no thread waits, in memory that ends with it |
//! | `patience.rs` | how long a waiting thread leaves the others alone |
//!
//! An operation is a closure. While [`run`](Combining::run) waits, the closure lies on the caller's stack, so
//! it may borrow from there and nothing is allocated. A posted operation itself reports its completion, if a
//! thread wants to know.
//!
//! **Panics.** If an operation of `run` panics, the panic goes on in the thread that called `run`, whichever
//! thread ran the operation. A posted operation that panics is over; the panic hook has reported it. No other
//! operation is lost, the value is as the operation left it, and nothing is poisoned (as in `parking_lot`,
//! and unlike `std`).
//!
//! Every algorithm is generic over [`Platform`](heddle_platform::Platform), so the model checker runs the
//! sources that ship (`RUSTFLAGS="--cfg loom" cargo test -p heddle-combining --release --test 'loom_*'`).

mod combining;
pub mod delegated;
pub mod dsm_synch;
pub mod lock_queue;
pub mod offload;
#[cfg(not(loom))]
mod offload_thread;
mod patience;
mod posted;
mod request;

pub use combining::Combining;
pub use lock_queue::LockQueue;
#[cfg(not(loom))]
pub use offload_thread::OffloadThread;

use heddle_platform::Native;
#[cfg(doc)]
use heddle_sync::Lock;
use heddle_sync::Mutex;

// These are for the platform of this build; the modules have the forms for any platform.
/// [`delegated::Delegated`] of this build's platform.
pub type Delegated<T> = delegated::Delegated<T, Native>;
/// [`dsm_synch::DsmSynch`] of this build's platform.
pub type DsmSynch<T> = dsm_synch::DsmSynch<T, Native>;
/// LockQ over [`Mutex`]: LockQ-MTX.
pub type LockQueueMutex<T> = LockQueue<Mutex, T>;
/// [`offload::Offload`] of this build's platform.
pub type Offload<T> = offload::Offload<T, Native>;
