//! What a lock promises, the safe wrapper above that promise, and the lock that this crate needs itself.

pub mod mutex;
mod priority;
pub mod raw_lock;
pub mod shared_bias;

pub use priority::PriorityLock;
