//! Keyvals.

use crate::argument::{Callback, Out};
use crate::error::{Error, Result};
use heddle_comm::attribute::{self, AttributeCarrier, Copy, CopyFunction, Delete, DeleteFunction};
use heddle_spec::constants as mpi;
use std::ffi::{c_int, c_void};

fn create(
    target: AttributeCarrier,
    copy: Callback,
    delete: Callback,
    keyval: Out<c_int>,
    state: *mut c_void,
) -> Result<()> {
    let keyval = keyval.variable()?;
    let copy = match copy.address.addr() {
        mpi::MPI_NULL_COPY_FN => Copy::Never,
        mpi::MPI_DUP_FN => Copy::Always,
        // SAFETY: the program promises that the address is that of a copy function; all kinds have the same
        // form, as a handle is in a register.
        _ => Copy::Call(unsafe { copy.function::<CopyFunction>() }?),
    };
    let delete = match delete.address.addr() {
        mpi::MPI_NULL_DELETE_FN => Delete::Nothing,
        mpi::MPI_DUP_FN => {
            let message = "MPI_COMM_DUP_FN and its like are copy functions and cannot delete an attribute";
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
        // SAFETY: the program promises that the address is that of a delete function; all kinds have the same
        // form, as a handle is in a register.
        _ => Delete::Call(unsafe { delete.function::<DeleteFunction>() }?),
    };
    *keyval = attribute::create(target, copy, delete, state.expose_provenance())?;
    Ok(())
}

/// The functions of each kind of object: one that makes a keyval and one that frees it.
macro_rules! keyvals {
    ($($create:ident, $free:ident: $target:ident;)*) => {
        $(
            pub(crate) fn $create(
                copy: Callback,
                delete: Callback,
                keyval: Out<c_int>,
                state: *mut c_void,
            ) -> Result<()> {
                create(AttributeCarrier::$target, copy, delete, keyval, state)
            }

            pub(crate) fn $free(keyval: Out<c_int>) -> Result<()> {
                attribute::free(AttributeCarrier::$target, keyval.variable()?)
            }
        )*
    };
}

keyvals! {
    comm_create_keyval, comm_free_keyval: Comm;
    keyval_create, keyval_free: Comm;
    type_create_keyval, type_free_keyval: Type;
    win_create_keyval, win_free_keyval: Win;
}
