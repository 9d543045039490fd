//! `heddle_rma_locks.h`: the locks of `heddle-rma-locks` for C, over windows of any MPI library with the
//! standard ABI.
//!
//! C only sees opaque handles made from the name of a kind. Every function returns a [`Status`];
//! [`error::heddle_rma_last_error`] gives the reason of a failure in words.
//!
//! Besides `heddle-rma-locks` the crate uses `heddle-sync` and `heddle-platform` for the threads of its
//! process, and the constants of `heddle-spec`. No crate uses it.
//!
//! | file | content |
//! |---|---|
//! | [`lock`] | the functions `heddle_rma_lock_*` |
//! | [`held`] | a lock of this process: its threads take turns at the process's words |
//! | `remote` | a lock of each kind over the words |
//! | `adaptive` | the kind that tunes itself, and what readers remember for it |
//! | [`kind`] | the kinds by name |
//! | [`options`] | the options, and that all processes give the same |
//! | [`topology`] | the levels of the machine |
//! | [`words`] | [`Rma`](heddle_rma_locks::Rma) over a window |
//! | [`pause`] | how a process waits between two looks at a word |
//! | [`error`] | statuses, and the last error of a thread in words |
//! | `mpi` | the functions of MPI that are used |
//!
//! `include/heddle_rma_locks.h` is made from these files by `cbindgen` (`tests/header.rs`).
//!
//! **The MPI library** is the program's. Its functions are undefined symbols of `libheddle_rma_locks.so`,
//! which names no library for them: the program is linked with one, and the dynamic linker finds them there.
//! A program that loads this library itself (`dlopen`) has to load MPI first, with `RTLD_GLOBAL`.

mod adaptive;
pub mod error;
pub mod held;
pub mod kind;
pub mod lock;
mod mpi;
pub mod options;
pub mod pause;
mod remote;
pub mod topology;
pub mod words;

pub use error::Status;
