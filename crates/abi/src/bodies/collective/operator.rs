//! Operators.

use crate::argument::{Callback, Out};
use crate::error::{Error, Result};
use heddle_comm::op::{self, LargeUserFunction, OPS, OpFunction, OpRef, UserFunction, UserOp};
use heddle_spec::constants::MPI_ERR_ARG;
use heddle_spec::handle::OpHandle;
use std::ffi::c_int;

pub(crate) fn op_create(user_fn: Callback, commute: bool, op: Out<OpHandle>) -> Result<()> {
    if user_fn.address.is_null() {
        return Err(Error::new(MPI_ERR_ARG, "the operator's function is a null pointer"));
    }
    let function = if user_fn.large {
        // SAFETY: the program passed an `MPI_User_function_c`.
        OpFunction::Large(unsafe { user_fn.function::<LargeUserFunction>() }?)
    } else {
        // SAFETY: the program passed an `MPI_User_function`.
        OpFunction::Int(unsafe { user_fn.function::<UserFunction>() }?)
    };
    // SAFETY: the program promises that its function works on the datatypes that it uses it with.
    op.set(OpHandle(OPS.insert(unsafe { UserOp::new(function, commute) })))
}

pub(crate) fn op_free(op: Out<OpHandle>) -> Result<()> {
    op::free(op.get()?.0)?;
    op.set(OpHandle::NULL)
}

pub(crate) fn op_commutative(op: OpHandle, commute: Out<c_int>) -> Result<()> {
    commute.set(c_int::from(OpRef::from_handle(op.0)?.commutes()))
}
