//! Subroutines that C has no function for (MPI 5.0, sections 19.1.8 and 19.1.9).

use std::ffi::c_void;
#[cfg(descriptors)]
use {
    crate::constants::MPI_SUCCESS,
    crate::descriptor::Descriptor,
    crate::hand_written::{Ierror, Variable, set_ierror},
    std::ffi::c_int,
};

macro_rules! without_c {
    ($($sizeof:literal $sync:literal)+) => {
        $(const _: () = {
            #[cfg(descriptors)]
            /// The bytes of a variable, or of an element of an array.
            #[unsafe(export_name = $sizeof)]
            extern "C" fn size_of_element(variable: &Descriptor, size: Variable<'_>, ierror: Ierror<'_>) {
                size.set(variable.element_bytes() as c_int);
                set_ierror(ierror, MPI_SUCCESS);
            }

            /// Does nothing, but the compiler takes it that the buffer is read and written here.
            #[unsafe(export_name = $sync)]
            extern "C" fn sync(_: *const c_void) {}
        };)+
    };
}

without_c! {
    "mpi_sizeof_f08ts_" "mpi_f_sync_reg_"
    "pmpi_sizeof_f08ts_" "pmpi_f_sync_reg_"
}
