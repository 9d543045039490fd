//! `mpiexec` as its users see it: started as a program, with ranks that behave, fail, hang, wrap and leave
//! things behind. The ranks are shell commands, or `examples/rank.rs`, which plays an MPI library.
//!
//! No test depends on how long something takes: every wait ends with its event, and fails
//! after a generous deadline.

mod command_line;
mod failures;
mod harness;
mod interruption;
mod leftovers;
mod other_launchers;
mod output;
mod session;
mod wrappers;
