//! Atomic integers and pointers, and their fences.
//!
//! Aliases and not re-exports, so that `clippy.toml` can tell these names from the ones they stand for.

#[cfg(loom)]
use loom::sync::atomic as imp;
#[cfg(not(loom))]
use std::sync::atomic as imp;

pub use imp::{Ordering, fence};

/// A flag.
pub type AtomicBool = imp::AtomicBool;
/// A signed 32-bit integer.
pub type AtomicI32 = imp::AtomicI32;
/// A signed 64-bit integer.
pub type AtomicI64 = imp::AtomicI64;
/// A pointer.
pub type AtomicPtr<T> = imp::AtomicPtr<T>;
/// An unsigned 8-bit integer.
pub type AtomicU8 = imp::AtomicU8;
/// An unsigned 16-bit integer.
pub type AtomicU16 = imp::AtomicU16;
/// An unsigned 32-bit integer.
pub type AtomicU32 = imp::AtomicU32;
/// An unsigned 64-bit integer.
pub type AtomicU64 = imp::AtomicU64;
/// An unsigned integer as wide as a pointer.
pub type AtomicUsize = imp::AtomicUsize;
