//! Procedures of MPICH's modules, under gfortran's names for them, and copies of statuses.
//! `build/spellings.rs` has the other names.

use crate::Status;
use crate::constants::MPI_SUCCESS;
use crate::hand_written::{Ierror, Variable, set_ierror};
use crate::logical;
use std::cell::Cell;
use std::ffi::{c_int, c_void};

/// The operator `==` of handles.
#[unsafe(export_name = "__mpi_f08_types_MOD_mpi_comm_eq")]
extern "C" fn equal(one: Variable<'_>, other: Variable<'_>) -> c_int {
    logical::to_fortran(c_int::from(one.get() == other.get()))
}

/// The operator `/=` of handles.
#[unsafe(export_name = "__mpi_f08_types_MOD_mpi_comm_neq")]
extern "C" fn differ(one: Variable<'_>, other: Variable<'_>) -> c_int {
    logical::to_fortran(c_int::from(one.get() != other.get()))
}

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

/// A status of one form of Fortran in the other one, which is the same.
macro_rules! status_copies {
    ($($symbol:literal)+) => {
        $(const _: () = {
            #[unsafe(export_name = $symbol)]
            extern "C" fn copy(from: &Cell<Status>, to: &Cell<Status>, ierror: Ierror<'_>) {
                to.set(from.get());
                set_ierror(ierror, MPI_SUCCESS);
            }
        };)+
    };
}

status_copies! {
    "mpi_status_f2f08_" "mpi_status_f082f_"
    "pmpi_status_f2f08_" "pmpi_status_f082f_"
}

/// The representation of data as it is in memory has no conversion, and MPI does not call this.
macro_rules! no_conversion {
    ($($symbol:literal)+) => {
        $(const _: () = {
            #[unsafe(export_name = $symbol)]
            extern "C" fn convert() {}
        };)+
    };
}

no_conversion! {
    "mpi_conversion_fn_null_" "mpi_conversion_fn_null_c_"
    "pmpi_conversion_fn_null_" "pmpi_conversion_fn_null_c_"
}
