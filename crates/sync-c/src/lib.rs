//! `heddle_sync.h`: the locks and the combining of `heddle-sync` for C.
//!
//! Everything that C sees is an opaque handle made from the name of a kind, so that a program can choose its
//! lock when it runs. Every function returns a [`Status`]; what was wrong in words,
//! [`error::heddle_last_error`] says. A null pointer is an error, never a crash.
//!
//! | file | what it has |
//! |---|---|
//! | [`lock`] | `heddle_lock_*`: what C calls |
//! | [`kinds`] | the catalogue of locks, by name |
//! | [`held`] | a lock that keeps its own token and knows its holder |
//! | [`combine`] | `heddle_combine_*`, and the kinds of combining by name |
//! | [`error`] | statuses, and the last error of a thread in words |
//! | `pointer` | the one place where pointers from C are looked at |
//!
//! `include/heddle_sync.h` is made from these files by `cbindgen` (`tests/header.rs` makes it and says when
//! it is out of date).

pub mod combine;
pub mod error;
pub mod held;
pub mod kinds;
pub mod lock;
mod pointer;

pub use error::Status;
