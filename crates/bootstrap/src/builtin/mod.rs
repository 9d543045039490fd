//! The mechanism of Heddle's own `mpiexec`: an environment contract ([`mod@env`]). The launcher makes the
//! job's memory.
//!
//! A rank finds the file as the inherited descriptor `HEDDLE_JOB_FD`. Wrappers sometimes close descriptors
//! they do not know, or put something else in their place; then `HEDDLE_JOB_PATH` leads to the launcher's own
//! descriptor. Whichever way it was found, the control block must prove that it is this job's.

pub mod env;
