//! The ABI of MPICH, which Intel MPI, MVAPICH and Cray MPICH share: what a program meets that was compiled by
//! that library's `mpicc`.
//!
//! `libmpi.so.12` is a library of jumps, made by `heddle_spec::mpich::stubs`; each leads to an entry here, and
//! so all programs of a process, of this ABI and of the standard's, are in one library. Most entries are made
//! from the table of the standard by `build/mpich.rs`: they convert the arguments, call the entry point of
//! the standard's ABI, and convert what comes back.
//!
//! | file | idea |
//! |---|---|
//! | `handle.rs` | handles: numbers of 32 bits |
//! | `constant.rs` | ranks, tags, error codes, addresses with a meaning |
//! | `status.rs` | statuses of five integers |
//! | `array.rs` | arrays of these, converted on the stack |
//! | `number_of.rs` | how long arrays are whose length a communicator knows |
//! | `callback.rs` | functions of the program: what they are called with is converted, too |
//! | `after.rs` | what is converted behind a call because its values alone say what they are |
//! | `hand_written.rs` | the other entries that are not made from the table |

mod after;
mod array;
mod callback;
mod constant;
mod hand_written;
mod handle;
mod number_of;
mod status;

use crate::entry::failed;
use crate::error::{Error, ErrorObject};
use heddle_spec::constants::MPI_ERR_NO_MEM;
use std::ffi::c_int;

#[cfg(target_endian = "big")]
compile_error!("a handle that a program's function reads through a pointer is the lower half of a word");

/// There is no memory for a converted array.
#[cold]
fn no_memory(name: &'static str) -> c_int {
    let error =
        Error::new(MPI_ERR_NO_MEM, "there is no memory for a copy of an array of handles or statuses");
    constant::their_error(failed(name, ErrorObject::Default, error))
}

/// The constants of the ABI: their values, and the ways between these and the standard's.
#[allow(non_snake_case, clippy::match_same_arms, clippy::identity_op, clippy::bad_bit_mask, dead_code)]
mod constants {
    use std::ffi::c_int;

    include!(concat!(env!("OUT_DIR"), "/mpich_constants.rs"));
}

/// The entries.
///
/// # Safety
///
/// As for the functions of the standard's ABI.
#[allow(non_snake_case, unused_variables, unreachable_pub, missing_docs)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments)]
mod entries {
    use super::array::{self, Array};
    use super::handle::{self, Foreign, HandleOut};
    use super::status::{Status, StatusOut};
    use super::{after, constant, constants, no_memory, number_of};
    use heddle_spec::constants::{MPI_IN_PLACE, MPI_SUCCESS};
    use heddle_spec::handle::*;
    use std::ffi::{c_char, c_int, c_void};

    include!(concat!(env!("OUT_DIR"), "/mpich_entries.rs"));
}
