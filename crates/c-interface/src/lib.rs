//! The parts that both C interfaces of Heddle's locks use: `heddle_sync.h` and `heddle_rma_locks.h`.
//!
//! | module | content |
//! |---|---|
//! | [`failure`] | statuses, and the last error of a thread in words |
//! | [`patience`] | how long a thread waits |
//! | [`mod@pointer`] | the one place that reads pointers from C |
//!
//! `tests/header/mod.rs` compares a header with what `cbindgen` makes of the sources; the tests of both
//! crates include it.

pub mod failure;
pub mod patience;
pub mod pointer;

pub use failure::{CallStatus, FailedCall, LastError};
pub use patience::Patience;
