//! The catalogue of locks: every kind by name, with what it can do and how it is made for this machine.
//!
//! The thread-safety models (`HEDDLE_ARBITRATION`), the C interface (`heddle_lock_create`) and `heddle bench
//! locks` all take their locks from here, so a name means one lock everywhere.
//!
//! | | |
//! |---|---|
//! | [`LockKind`] | a single lock: `mcs`. A new lock is a row in `rows.rs` |
//! | [`LockName`] | every lock with a name: the kinds, and some locks made of others, such as `p-mcs-mcs` |
//! | [`Recipe`] | the lock of a name as a type, for code that is compiled for each one |
//! | [`AnyLock`] | a lock whose kind is chosen when the program runs |
//! | [`pair_of`] | the two-level lock `p-X-Y` of any two kinds |
//!
//! # Examples
//!
//! A value under a mutex and one under a ticket lock, each by its name:
//!
//! ```
//! use heddle_locks::kinds::{AnyLock, LockKind, LockSettings};
//! use heddle_sync::Lock;
//!
//! for name in ["mutex", "ticket"] {
//!     let kind = LockKind::from_name(name).expect("a lock of the catalogue");
//!     let total = Lock::new(AnyLock::new(kind, &LockSettings::default()), 0);
//!     std::thread::scope(|scope| {
//!         for _ in 0..4 {
//!             scope.spawn(|| *total.acquire() += 1);
//!         }
//!     });
//!     assert_eq!(total.into_inner(), 4);
//! }
//! ```
//!
//! The names, for a program's help:
//!
//! ```
//! use heddle_locks::kinds::LockName;
//!
//! for lock in LockName::all() {
//!     println!("{:20} {}", lock.name(), lock.meaning());
//! }
//! assert!(LockName::from_name("hmcs").is_some_and(LockName::is_timed));
//! ```

mod any_lock;
mod kind;
mod name;
pub mod recipe;
mod rows;

pub use any_lock::{AnyLock, KeptToken, LastHolder, Pair, pair_of};
pub use kind::{LockKind, Order};
pub use name::LockName;
pub use recipe::{AcquireUntil, LockSettings, LowClass, Recipe, Visitor};
