//! How a thread waits: spinning, yielding, and asleep at a bell.

pub mod bell;
pub mod bells;
pub mod wait;
