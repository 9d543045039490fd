//! The entries that are made from the table.
//!
//! # Safety
//!
//! As for the functions of the standard's ABI.

#![allow(non_snake_case, unused_variables, unreachable_pub, missing_docs)]
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::multiple_unsafe_ops_per_block)]

use super::array::{self, Array};
use super::handle::{self, Foreign, HandleOut};
use super::status::{ConvertedStatus, Status};
use super::{after, constant, constants, number_of};
use crate::entry::failed;
use crate::error::{Error, ErrorObject};
use heddle_spec::constants::{MPI_ERR_NO_MEM, MPI_IN_PLACE, MPI_SUCCESS};
use heddle_spec::handle::*;
use std::ffi::{c_char, c_int, c_void};

/// There is no memory for a converted array.
#[cold]
fn no_memory(name: &'static str) -> c_int {
    let error =
        Error::new(MPI_ERR_NO_MEM, "there is no memory for a copy of an array of handles or statuses");
    constant::their_error(failed(name, ErrorObject::Default, error))
}

include!(concat!(env!("OUT_DIR"), "/mpich_entries.rs"));
