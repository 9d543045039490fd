//! Threads that sleep until a message comes that they probe for.

mod list;
#[cfg(all(test, loom))]
mod loom_tests;

pub use list::{Asleep, Probers};
