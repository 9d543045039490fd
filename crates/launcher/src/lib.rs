#![deny(unsafe_code)]
//! What `mpiexec` can be told: its options as data, for the command itself (`main.rs`) and for its manual
//! page and completions, which `heddle pages` makes. And which MPI library a program asks for, which `heddle
//! libraries` tells.

pub mod asked_library;
pub mod options;
