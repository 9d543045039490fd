//! Subroutines whose C functions are not built yet, and which the standard's `mpif.h` here does not have
//! (`heddle_spec::mpif::has_subroutine`). A program that was compiled elsewhere may name one and never call
//! it. A call is an error.

use crate::constants::{MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION};
use crate::hand_written::{Ierror, Variable, set_ierror};
use crate::handle::from_int;
use crate::subroutines::{MPI_Comm_fromint, PMPI_Comm_call_errhandler};
use std::ffi::{c_int, c_void};

/// Reports the error to the handler of a communicator.
fn report(comm: c_int, ierror: Ierror<'_>) {
    let comm = from_int(comm, MPI_Comm_fromint);
    // SAFETY: the MPI library checks the handle.
    unsafe { PMPI_Comm_call_errhandler(comm, MPI_ERR_UNSUPPORTED_OPERATION) };
    set_ierror(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
}

/// Nobody looks at these arguments.
type Ignored = *const c_void;

macro_rules! not_built {
    ($($spawn:literal $spawn_multiple:literal $register_datarep:literal)+) => {$(const _: () = {
        #[unsafe(export_name = $spawn)]
        extern "C" fn spawn(
            _command: Ignored,
            _argv: Ignored,
            _maxprocs: Ignored,
            _info: Ignored,
            _root: Ignored,
            comm: Variable<'_>,
            _intercomm: Ignored,
            _errcodes: Ignored,
            ierror: Ierror<'_>,
        ) {
            report(comm.get(), ierror);
        }

        #[unsafe(export_name = $spawn_multiple)]
        extern "C" fn spawn_multiple(
            _count: Ignored,
            _commands: Ignored,
            _argv: Ignored,
            _maxprocs: Ignored,
            _infos: Ignored,
            _root: Ignored,
            comm: Variable<'_>,
            _intercomm: Ignored,
            _errcodes: Ignored,
            ierror: Ierror<'_>,
        ) {
            report(comm.get(), ierror);
        }

        #[unsafe(export_name = $register_datarep)]
        extern "C" fn register_datarep(
            _datarep: Ignored,
            _read: Ignored,
            _write: Ignored,
            _extent: Ignored,
            _state: Ignored,
            ierror: Ierror<'_>,
        ) {
            report(MPI_COMM_SELF, ierror);
        }
    };)+};
}

not_built! {
    "mpi_comm_spawn_" "mpi_comm_spawn_multiple_" "mpi_register_datarep_"
    "pmpi_comm_spawn_" "pmpi_comm_spawn_multiple_" "pmpi_register_datarep_"
}
