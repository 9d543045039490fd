//! The constants of the ABI: their values, and the ways between these and the standard's.

#![allow(non_snake_case, clippy::match_same_arms, clippy::identity_op, clippy::bad_bit_mask, dead_code)]

use std::ffi::c_int;

include!(concat!(env!("OUT_DIR"), "/mpich_constants.rs"));
