//! Procedures of the modules that are the same in all ABIs of other libraries, and copies of statuses.
//! `build/spellings` has the names under which programs know them.

use crate::Status;
use crate::constants::MPI_SUCCESS;
use crate::hand_written::{Ierror, Variable, set_ierror};
use crate::logical;
use std::cell::Cell;
use std::ffi::c_int;

/// The operator `==` of handles.
#[unsafe(export_name = "heddle_handles_equal")]
extern "C" fn equal(one: Variable<'_>, other: Variable<'_>) -> c_int {
    logical::to_fortran(c_int::from(one.get() == other.get()))
}

/// The operator `/=` of handles.
#[unsafe(export_name = "heddle_handles_differ")]
extern "C" fn differ(one: Variable<'_>, other: Variable<'_>) -> c_int {
    logical::to_fortran(c_int::from(one.get() != other.get()))
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
