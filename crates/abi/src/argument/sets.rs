//! The arguments of functions with many of them, a structure for all functions with the same parameters.
//!
//! `build/argument_sets.rs` writes the structures from the table of the standard. What a function adds at its
//! end for its form (a status; a request; an info object and a request) is an argument of its own.

use super::{Counts, List, ListOut, Out, Text, TextOut};
use heddle_spec::handle::{
    CommHandle, DatatypeHandle, ErrhandlerHandle, GroupHandle, InfoHandle, OpHandle, WinHandle,
};
use std::ffi::{c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/argument_sets.rs"));
