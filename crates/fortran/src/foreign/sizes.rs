//! `MPI_Sizeof`: a subroutine for each type. Arrays have elements as large as scalars, so those for arrays
//! are further names of these (`build/spellings`).

use crate::constants::MPI_SUCCESS;
use crate::hand_written::{Ierror, Variable, set_ierror};
use std::ffi::c_void;

/// The bytes of variables of each type.
macro_rules! sizes {
    ($($symbol:literal $bytes:literal)+) => {
        $(const _: () = {
            #[unsafe(export_name = $symbol)]
            extern "C" fn size(_: *const c_void, size: Variable<'_>, ierror: Ierror<'_>) {
                size.set($bytes);
                set_ierror(ierror, MPI_SUCCESS);
            }
        };)+
    };
}

#[cfg(abi = "mpich")]
sizes! {
    "__mpi_sizeofs_MOD_mpi_sizeof_ch" 1
    "__mpi_sizeofs_MOD_mpi_sizeof_cx" 8
    "__mpi_sizeofs_MOD_mpi_sizeof_d" 8
    "__mpi_sizeofs_MOD_mpi_sizeof_i" 4
    "__mpi_sizeofs_MOD_mpi_sizeof_i1" 1
    "__mpi_sizeofs_MOD_mpi_sizeof_i2" 2
    "__mpi_sizeofs_MOD_mpi_sizeof_i8" 8
    "__mpi_sizeofs_MOD_mpi_sizeof_l" 4
    "__mpi_sizeofs_MOD_mpi_sizeof_r" 4
    "__mpi_f08_types_MOD_mpi_sizeof_character" 1
    "__mpi_f08_types_MOD_mpi_sizeof_logical" 4
    "__mpi_f08_types_MOD_mpi_sizeof_xint8" 1
    "__mpi_f08_types_MOD_mpi_sizeof_xint16" 2
    "__mpi_f08_types_MOD_mpi_sizeof_xint32" 4
    "__mpi_f08_types_MOD_mpi_sizeof_xint64" 8
    "__mpi_f08_types_MOD_mpi_sizeof_xreal32" 4
    "__mpi_f08_types_MOD_mpi_sizeof_xreal64" 8
    "__mpi_f08_types_MOD_mpi_sizeof_xreal128" 16
    "__mpi_f08_types_MOD_mpi_sizeof_xcomplex32" 8
    "__mpi_f08_types_MOD_mpi_sizeof_xcomplex64" 16
    "__mpi_f08_types_MOD_mpi_sizeof_xcomplex128" 32
}

#[cfg(abi = "openmpi")]
sizes! {
    "mpi_sizeof_character_scalar_" 1
    "mpi_sizeof_complex32_scalar_" 8
    "mpi_sizeof_complex64_scalar_" 16
    "mpi_sizeof_complex128_scalar_" 32
    "mpi_sizeof_int8_scalar_" 1
    "mpi_sizeof_int16_scalar_" 2
    "mpi_sizeof_int32_scalar_" 4
    "mpi_sizeof_int64_scalar_" 8
    "mpi_sizeof_logical_scalar_" 4
    "mpi_sizeof_real32_scalar_" 4
    "mpi_sizeof_real64_scalar_" 8
    "mpi_sizeof_real128_scalar_" 16
    "pmpi_sizeof_character_scalar_" 1
    "pmpi_sizeof_complex32_scalar_" 8
    "pmpi_sizeof_complex64_scalar_" 16
    "pmpi_sizeof_complex128_scalar_" 32
    "pmpi_sizeof_int8_scalar_" 1
    "pmpi_sizeof_int16_scalar_" 2
    "pmpi_sizeof_int32_scalar_" 4
    "pmpi_sizeof_int64_scalar_" 8
    "pmpi_sizeof_logical_scalar_" 4
    "pmpi_sizeof_real32_scalar_" 4
    "pmpi_sizeof_real64_scalar_" 8
    "pmpi_sizeof_real128_scalar_" 16
}
