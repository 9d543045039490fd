//! The ABI of Open MPI, for `libmpi_mpifh.so.40`. It calls the functions of `libmpi.so.40`. Buffers come by
//! their addresses in all forms: the module `mpi_f08` does not ask gfortran for descriptors.

pub(crate) mod handle;
pub(crate) mod special;

use std::ffi::c_int;

/// A status, as Fortran has it. C's has the same layout, and may read the last two integers as one word.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Status([c_int; 6]);

/// C's values of the constants, from `openmpi.table`; handles have Fortran's.
pub(crate) mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

/// The key of a predefined attribute is the same number in C.
pub(crate) fn in_c(keyval: c_int) -> c_int {
    keyval
}
