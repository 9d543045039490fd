//! Operators of the program for large counts, which only `mpi_f08` has.

use crate::callbacks::{MOST, MakeOperator, Operator, Procedures, made};
use crate::hand_written::{Ierror, Variable, set_ierror, subroutines};
use crate::handle::{Handle, to_int};
use crate::logical;
use crate::subroutines as c;
use std::ffi::c_void;
use std::mem::transmute;

static LARGE_OPERATORS: Procedures = Procedures::new();

unsafe extern "C" fn large_operator<const NUMBER: usize>(
    invec: *mut c_void,
    inoutvec: *mut c_void,
    len: *mut i64,
    datatype: *mut Handle,
) {
    // SAFETY: the slot of an operator that MPI has holds a procedure of this type.
    let procedure = unsafe { transmute::<usize, Operator<i64>>(LARGE_OPERATORS.get(NUMBER)) };
    // SAFETY: MPI passes a handle.
    let mut datatype = to_int(unsafe { *datatype }, c::MPI_Type_toint);
    // SAFETY: the arguments are MPI's.
    unsafe { procedure(invec, inoutvec, len, &raw mut datatype) };
}

include!(concat!(env!("OUT_DIR"), "/large_operators.rs"));

subroutines! {
    op_create_large [MPI_Op_create_c PMPI_Op_create_c]
    "mpi_op_create_c_f08_" "pmpi_op_create_c_f08_"
    (procedure: *const c_void, commutes: Variable<'_>, op: Variable<'_>, ierror: Ierror<'_>)
    => (procedure, commutes, op, ierror)
}

unsafe fn op_create_large(
    procedure: *const c_void,
    commutes: Variable<'_>,
    op: Variable<'_>,
    ierror: Ierror<'_>,
    call: MakeOperator,
) {
    let commutes = logical::to_c(commutes.get());
    let code = made(&LARGE_OPERATORS, procedure, op, c::MPI_Op_toint, |number, op| {
        // SAFETY: the function lives as long as the process.
        unsafe { call(LARGE_OPERATOR_FUNCTIONS[number] as *mut c_void, commutes, op) }
    });
    set_ierror(ierror, code);
}
