//! How a thread waits: it spins, yields, and sleeps at a doorbell.

pub mod doorbell;
pub mod doorbells;
pub mod marks;
pub mod wait;
