#![cfg_attr(not(loom), allow(clippy::disallowed_types))]
//! The seam between Heddle and the machine: the one crate that names the hardware's atomics, cells, futexes,
//! barriers and clock. Everything above is written against this crate, so the sources that ship are the sources
//! that the `loom` model checker explores (`RUSTFLAGS="--cfg loom"`).

/// Atomic integers and pointers, and their fences.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
        Ordering, fence,
    };
    #[cfg(not(loom))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
        Ordering, fence,
    };
}
