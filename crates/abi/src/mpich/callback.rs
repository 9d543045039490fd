//! Functions of the program: operators, error handlers, copies and deletions of attributes, and those of
//! generalized requests. The library calls them with what their program's ABI has.

use super::constant;
use super::handle::{HandleOut, number};
use super::status::Status;
use crate::argument::{Callback, Out};
use crate::bodies;
use crate::entry::{early, failed, running};
use crate::error::{ErrorObject, Result};
use heddle_comm::program::ProgramAbi;
use heddle_spec::constants::MPI_SUCCESS;
use heddle_spec::handle::{ErrhandlerHandle, OpHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// What programs of MPICH's ABI know handles, error codes and statuses by.
static MPICH: ProgramAbi = ProgramAbi {
    handle: |word| number(word) as u32 as usize,
    error: constant::their_error,
    error_of: constant::error,
    status: |ours, call| {
        let mut theirs = Status::EMPTY;
        theirs.take(ours);
        let code = call((&raw mut theirs).cast());
        let error = ours.error;
        *ours = theirs.ours();
        ours.error = error;
        code
    },
};

/// A function of such a program.
fn callback(address: *const c_void, large: bool) -> Callback {
    Callback { address, large, abi: &MPICH }
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
    ($($symbol:ident $name:literal $large:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $symbol(function: *const c_void, commute: c_int, op: *mut c_int) -> c_int {
            let function = callback(function, $large);
            made!($name, running, OpHandle at op: |op| bodies::collective::op_create(function, commute != 0, op))
        }
    )*};
}

operators! {
    heddle_mpich_Op_create "MPI_Op_create" false;
    heddle_mpich_Op_create_c "MPI_Op_create_c" true;
}

macro_rules! error_handlers {
    ($($symbol:ident $name:literal $create:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $symbol(function: *const c_void, errhandler: *mut c_int) -> c_int {
            let function = callback(function, false);
            made!($name, early, ErrhandlerHandle at errhandler: |errhandler| $create(function, errhandler))
        }
    )*};
}

error_handlers! {
    heddle_mpich_Comm_create_errhandler "MPI_Comm_create_errhandler" bodies::env::comm_create_errhandler;
    heddle_mpich_Win_create_errhandler "MPI_Win_create_errhandler" bodies::env::win_create_errhandler;
    heddle_mpich_File_create_errhandler "MPI_File_create_errhandler" bodies::io::file_create_errhandler;
    heddle_mpich_Session_create_errhandler "MPI_Session_create_errhandler" bodies::env::session_create_errhandler;
}

macro_rules! keyvals {
    ($($symbol:ident $name:literal $create:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $symbol(
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
    heddle_mpich_Comm_create_keyval "MPI_Comm_create_keyval" comm_create_keyval;
    heddle_mpich_Keyval_create "MPI_Keyval_create" keyval_create;
    heddle_mpich_Type_create_keyval "MPI_Type_create_keyval" type_create_keyval;
    heddle_mpich_Win_create_keyval "MPI_Win_create_keyval" win_create_keyval;
}

/// The copy function of MPICH that keeps a value: a copy has the same.
///
/// # Safety
/// As the standard demands of who calls a copy function.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Dup_fn(
    _: c_int,
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

/// # Safety
/// The functions are those that the standard asks for.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_mpich_Grequest_start(
    query: *const c_void,
    free: *const c_void,
    cancel: *const c_void,
    state: *mut c_void,
    request: *mut c_int,
) -> c_int {
    let (query, free, cancel) = (callback(query, false), callback(free, false), callback(cancel, false));
    made!("MPI_Grequest_start", running, RequestHandle at request: |request| {
        bodies::external::grequest_start(query, free, cancel, state, request)
    })
}
