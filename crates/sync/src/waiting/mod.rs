//! How a thread waits: spinning, yielding, and asleep at a doorbell.

pub mod doorbell;
pub mod doorbells;
pub mod wait;
