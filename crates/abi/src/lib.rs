//! The shared library `libmpi_abi.so.1`: every function of the MPI standard's ABI as `MPI_X` and as `PMPI_X`.
//!
//! `build.rs` writes the entry points from the table of the standard; each of them turns its C arguments into
//! those of `argument`, calls one body, and hands an error to the error handler of the object concerned. Both
//! forms of a function, with `int` and with large counts, call the same body. A body with many arguments gets
//! a structure of them, which functions with the same parameters share.
//!
//! The bodies call `heddle-comm`, `heddle-p2p`, `heddle-collective`, `heddle-comm-management`, `heddle-rma`,
//! `heddle-process` and `heddle-tool`; layouts of data come from `heddle-datatype`, constants and the table
//! from `heddle-spec`. No crate uses this one: programs are linked with it.

#![allow(clippy::duplicate_mod, reason = "src/foreign is compiled for each ABI that programs may have")]

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "Heddle's ABI is that of 64-bit machines, where MPI_Aint, MPI_Offset and MPI_Count have one size"
);

mod argument;
mod bodies;
#[macro_use]
mod entry;
#[cfg(test)]
mod both_paths;
mod error;
mod mpich;
mod openmpi;

/// The functions that C calls.
///
/// # Safety
///
/// The standard says which arguments each function takes. A pointer that is not null must point to a valid
/// object of the declared type.
#[allow(non_snake_case, unused_variables, unreachable_pub, missing_docs)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::unnecessary_cast)]
mod entry_points {
    use crate::argument::*;
    use crate::error::ErrorObject;
    use heddle_datatype::Form;
    use heddle_spec::Status;
    use heddle_spec::handle::*;
    use std::ffi::{c_char, c_int, c_void};

    include!(concat!(env!("OUT_DIR"), "/entry_points.rs"));
}
