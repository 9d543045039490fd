//! What a lock promises, the safe wrapper above that promise, and the lock that this crate needs itself.

pub mod mutex;
mod priority;
pub mod raw_lock;

pub use priority::PriorityLock;
