//! The ABI of MPICH, which Intel MPI, MVAPICH and Cray MPICH share: what a program meets that was compiled by
//! that library's `mpicc`.
//!
//! `libmpi.so.12` is a library of jumps, made by `heddle_spec::stubs`; each leads to an entry here. So all
//! that a process loads, of this ABI and of the standard's, is in one library. Most entries are made from the
//! table of the standard by `build/foreign.rs`: they convert the arguments, call the entry point of the
//! standard's ABI, and convert what comes back.
//!
//! The constants and the entries are made by the build script. The files of the folder `foreign` are compiled
//! for each of the ABIs, with its handles, statuses, addresses and constants: they are those below without an
//! ending.
//!
//! | file | idea |
//! |---|---|
//! | `handle.rs` | handles: numbers of 32 bits |
//! | `status.rs` | statuses of five integers |
//! | `address.rs` | addresses with a meaning |
//! | `foreign` | what handles have in common |
//! | `constant` | ranks, tags, error codes |
//! | `unset` | values that tell which output a call has not set |
//! | `handle_out`, `converted_status`, `text` | what a call sets |
//! | `array` | arrays of handles and statuses, converted on the stack |
//! | `number_of` | how long arrays are whose length a communicator knows |
//! | `callback` | functions of the program: what they are called with is converted, too |
//! | `after` | conversions behind a call whose values alone say what they are |
//! | `removed` | entries by names that the standard's ABI does not have |

#[path = "../foreign/after.rs"]
mod after;
#[path = "../foreign/array.rs"]
mod array;
#[path = "../foreign/callback.rs"]
mod callback;
#[path = "../foreign/constant.rs"]
mod constant;
#[path = "../foreign/converted_status.rs"]
mod converted_status;
#[path = "../foreign/foreign.rs"]
mod foreign;
#[path = "../foreign/handle_out.rs"]
mod handle_out;
#[path = "../foreign/number_of.rs"]
mod number_of;
#[path = "../foreign/removed.rs"]
mod removed;
#[path = "../foreign/text.rs"]
mod text;
#[path = "../foreign/unset.rs"]
mod unset;

mod address;
mod handle;
mod status;

/// The constants of the ABI: their values, and the ways between these and the standard's.
#[allow(non_snake_case, clippy::match_same_arms, clippy::identity_op, clippy::bad_bit_mask, dead_code)]
mod constants {
    use std::ffi::c_int;

    include!(concat!(env!("OUT_DIR"), "/mpich_constants.rs"));
}

/// The entries that are made from the table.
///
/// # Safety
///
/// As for the functions of the standard's ABI.
#[allow(non_snake_case, unused_variables, unused_unsafe, unreachable_pub, missing_docs)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::multiple_unsafe_ops_per_block)]
mod entries {
    include!(concat!(env!("OUT_DIR"), "/mpich_entries.rs"));
}

/// The end of the text of `MPI_Get_library_version`.
const VERSION_SAYS: &[u8] = b", as libmpi.so.12 (MPICH's ABI)\0";

#[cfg(target_endian = "big")]
compile_error!("a handle that a program's function reads through a pointer is the lower half of a word");
