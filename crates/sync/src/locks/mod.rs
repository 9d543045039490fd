//! Locks.

pub mod abortable_mcs;
mod admission;
mod bias;
pub mod biased;
pub mod clh;
pub mod core_biased;
pub mod fissile;
mod head;
pub mod hmcs;
pub mod mcs;
pub mod ticket;
pub mod two_level;
