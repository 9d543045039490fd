//! `heddle_sync.h`: the locks of `heddle-locks` and the combining of `heddle-combining` for C.
//!
//! C only sees opaque handles made from the name of a kind, so that a program can choose its lock when it
//! runs. Every function returns a [`Status`]; [`error::heddle_last_error`] gives the reason of a failure in
//! words. A null pointer is an error, never a crash. No crate uses this one.
//!
//! | file | content |
//! |---|---|
//! | [`lock`] | the functions `heddle_lock_*` |
//! | [`kinds`] | the catalogue of locks, by name |
//! | [`held`] | a lock that stores its token and knows its holder |
//! | [`combine`] | `heddle_combine_*`, and the kinds of combining by name |
//! | [`error`] | statuses, and the last error of a thread in words |
//!
//! `include/heddle_sync.h` is made from these files by `cbindgen` (`tests/header.rs` makes it and says when
//! it is out of date).

pub mod combine;
pub mod error;
pub mod held;
pub mod kinds;
pub mod lock;

pub use error::Status;
