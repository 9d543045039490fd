//! The ABI of Open MPI: what a program meets that was compiled by that library's `mpicc`, for `libmpi.so.40`.
//! All is as for MPICH's ABI (`mpich`), but for the three files of this folder.
//!
//! | file | idea |
//! |---|---|
//! | `handle.rs` | handles: addresses of the library's objects, and words of the standard's ABI |
//! | `status.rs` | statuses of four integers and a word |
//! | `address.rs` | addresses with a meaning |
//! | `after`, `array`, `callback`, `constant`, `converted_status`, `foreign`, `handle_out`, `number_of` | as there |
//! | `removed`, `text`, `unset` | as there |

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

    include!(concat!(env!("OUT_DIR"), "/openmpi_constants.rs"));
}

/// The entries that are made from the table.
///
/// # Safety
///
/// As for the functions of the standard's ABI.
#[allow(non_snake_case, unused_variables, unused_unsafe, unreachable_pub, missing_docs)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::multiple_unsafe_ops_per_block)]
mod entries {
    include!(concat!(env!("OUT_DIR"), "/openmpi_entries.rs"));
}

/// The end of the text of `MPI_Get_library_version`.
const VERSION_SAYS: &[u8] = b", as libmpi.so.40 (Open MPI's ABI)\0";
