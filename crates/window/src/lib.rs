//! Windows: one-sided communication between the processes of a job (MPI 5.0, chapter 12).
//!
//! The crate knows processes, memory and layouts of data; it knows no communicator, no handle and no error
//! handler. It stands on `heddle-message`, whose domain makes progress while a call waits, on
//! `heddle-transport` (shared memory, single copies) and on `heddle-rma-locks`; `heddle-rma` stands on it.
//! On one machine an operation is complete when its function returns: at once where the target's memory is
//! mapped, else by a single copy of the kernel's. On another machine a thread of the library carries it out.
//! None needs the target to be inside MPI.
//!
//! | file | idea |
//! |---|---|
//! | `plan.rs`, `offer.rs` | what the processes tell each other when they make a window |
//! | `memory.rs`, `allocated.rs` | memory that others can map, also that of `MPI_Alloc_mem` |
//! | `geometry.rs`, `control.rs` | the window block: a process's words for locks, counters, attached regions; waiting for them |
//! | `remote.rs` | what a window needs of a transport; `machine.rs`: the processes of this machine; `far`: those of others; `processes.rs`: all |
//! | `attach.rs`, `attached.rs` | regions of dynamic windows; whether data lies in them |
//! | `target.rs` | the part of one process: its memory, and whether this process may access it |
//! | `algorithm.rs` | the algorithms of `MPI_Win_lock`; `levels.rs`: the levels of the machine, for those that are trees; `adaptive_lock.rs`: the one that tunes itself |
//! | `service.rs` | the thread that copies where the kernel forbids single copies, or where they would be many |
//! | `run_list.rs` | the lists of runs that it copies |
//! | `window.rs` | [`Window`]: making one, and what all its operations use |
//! | `locks.rs`, `passive_target.rs` | lock, unlock, flush |
//! | `exposure.rs`, `active_target.rs` | fence, post, start, complete, wait |
//! | `place.rs` | data within a target: checked, put and got |
//! | `runs.rs` | data in many runs, in memory that is not mapped |
//! | `operator.rs` | a predefined operator on a predefined type |
//! | `accumulate.rs`, `atomics.rs` | accumulates: by processor atomics, or in the target's accumulate lock |
//! | `turns.rs`, `accumulate_lock.rs`, `means.rs` | which of the two, and leave to do so |
//! | `answers.rs` | answers of other machines that a thread waits for |

mod accumulate;
mod accumulate_lock;
mod active_target;
mod adaptive_lock;
mod algorithm;
pub mod allocated;
mod answers;
pub mod atomics;
mod attach;
mod attached;
mod control;
mod exposure;
pub mod far;
mod geometry;
mod levels;
mod locks;
mod machine;
mod means;
mod memory;
mod offer;
mod operator;
mod passive_target;
mod place;
mod plan;
mod processes;
mod remote;
mod run_list;
mod runs;
mod service;
mod target;
mod turns;
mod window;

pub use algorithm::{LockAlgorithm, LockChoice};
pub use means::{ChangeKind, Means};
pub use offer::{Draft, WindowOffer};
pub use operator::Accumulate;
pub use place::{Place, TargetLocation};
pub use plan::Plan;
pub use target::Target;
pub use window::Window;
