//! How a thread waits: it spins, yields, and sleeps at a doorbell.

pub mod doorbell;
pub mod event;
pub mod wait;
