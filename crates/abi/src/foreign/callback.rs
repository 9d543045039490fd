//! Functions of the program: operators, error handlers, copies and deletions of attributes, and those of
//! generalized requests. The library calls them with what their program's ABI has.

use super::constant;
use super::foreign::Number;
use super::handle::for_program;
use super::handle_out::HandleOut;
use super::status::Status;
use crate::argument::{Callback, Out};
use crate::bodies;
use crate::entry::{early, failed, running};
use crate::error::{ErrorObject, Result};
use heddle_comm::program::ProgramAbi;
use heddle_spec::constants::MPI_SUCCESS;
use heddle_spec::handle::{ErrhandlerHandle, OpHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// A status where C may have one.
#[repr(C, align(8))]
struct InC(Status);

/// The forms in which programs of the ABI have handles, error codes and statuses.
static ABI: ProgramAbi = ProgramAbi {
    handle: for_program,
    error: constant::their_error,
    error_of: constant::error,
    status: |ours, call| {
        let mut theirs = InC(Status::EMPTY);
        theirs.0.take(ours);
        let code = call((&raw mut theirs).cast());
        let error = ours.error;
        *ours = theirs.0.ours();
        ours.error = error;
        code
    },
};

/// A function of such a program.
fn callback(address: *const c_void, large: bool) -> Callback {
    Callback { address, large, abi: &ABI }
}

/// What an entry returns.
fn ended(name: &'static str, outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => MPI_SUCCESS,
        Err(error) => constant::their_error(failed(name, ErrorObject::Default, error)),
    }
}

/// Makes an object, and hands over its number.
macro_rules! made {
    ($name:literal, $when:ident, $handle:ident at $at:ident: $body:expr) => {{
        let mut out = HandleOut::<$handle>::new($at);
        // SAFETY: null, or the address of a variable.
        let to = unsafe { Out::new(out.pointer()) };
        let code = ended($name, $when(|| $body(to)));
        // SAFETY: the program promises a variable.
        unsafe { out.hand_over() };
        code
    }};
}

macro_rules! operators {
    ($($entry:ident $name:literal $large:literal;)*) => {$(
        pub(super) unsafe fn $entry(function: *const c_void, commute: c_int, op: *mut Number<OpHandle>) -> c_int {
            let function = callback(function, $large);
            made!($name, running, OpHandle at op: |op| bodies::collective::op_create(function, commute != 0, op))
        }
    )*};
}

operators! {
    op_create "MPI_Op_create" false;
    op_create_c "MPI_Op_create_c" true;
}

macro_rules! error_handlers {
    ($($entry:ident $name:literal $create:expr;)*) => {$(
        pub(super) unsafe fn $entry(function: *const c_void, errhandler: *mut Number<ErrhandlerHandle>) -> c_int {
            let function = callback(function, false);
            made!($name, early, ErrhandlerHandle at errhandler: |errhandler| $create(function, errhandler))
        }
    )*};
}

error_handlers! {
    comm_create_errhandler "MPI_Comm_create_errhandler" bodies::env::comm_create_errhandler;
    win_create_errhandler "MPI_Win_create_errhandler" bodies::env::win_create_errhandler;
    file_create_errhandler "MPI_File_create_errhandler" bodies::io::file_create_errhandler;
    session_create_errhandler "MPI_Session_create_errhandler" bodies::env::session_create_errhandler;
}

macro_rules! keyvals {
    ($($create:ident $name:literal;)*) => {$(
        pub(super) unsafe fn $create(
            copy: *const c_void,
            delete: *const c_void,
            keyval: *mut c_int,
            state: *mut c_void,
        ) -> c_int {
            let (copy, delete) = (callback(copy, false), callback(delete, false));
            // SAFETY: null, or the address of a variable.
            let to = unsafe { Out::new(keyval) };
            ended($name, running(|| bodies::comm::$create(copy, delete, to, state)))
        }
    )*};
}

keyvals! {
    comm_create_keyval "MPI_Comm_create_keyval";
    keyval_create "MPI_Keyval_create";
    type_create_keyval "MPI_Type_create_keyval";
    win_create_keyval "MPI_Win_create_keyval";
}

/// A copy function that keeps a value: a copy has the same.
///
/// # Safety
/// As the standard demands of who calls a copy function, here and below.
pub(super) unsafe fn keep_value<N>(
    _: N,
    _: c_int,
    _: *mut c_void,
    value: *mut c_void,
    copy: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library, or a program that calls it, has a variable there.
    unsafe { *copy = value };
    // SAFETY: the same.
    unsafe { *flag = 1 };
    MPI_SUCCESS
}

/// A copy function by which a copy has no value.
///
/// # Safety
/// The same.
pub(super) unsafe fn drop_value<N>(
    _: N,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library, or a program that calls it, has a variable there.
    unsafe { *flag = 0 };
    MPI_SUCCESS
}

/// A function for values that need no deletion.
pub(super) fn delete_nothing<N>(_: N, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    MPI_SUCCESS
}

/// # Safety
/// The functions are those that the standard asks for.
pub(super) unsafe fn grequest_start(
    query: *const c_void,
    free: *const c_void,
    cancel: *const c_void,
    state: *mut c_void,
    request: *mut Number<RequestHandle>,
) -> c_int {
    let (query, free, cancel) = (callback(query, false), callback(free, false), callback(cancel, false));
    made!("MPI_Grequest_start", running, RequestHandle at request: |request| {
        bodies::external::grequest_start(query, free, cancel, state, request)
    })
}
