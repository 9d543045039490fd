//! Functions of the program that MPI calls: C functions here call them.
//!
//! Those with an extra state find the Fortran procedures in it. Operators and error handlers have none, so
//! each Fortran procedure gets a C function of its own: there are [`MOST`] of each kind, and the same
//! procedure gets the same one again. `mpi_f08` passes the same arguments as `mpif.h`: a `type(C_PTR), value`
//! is an address, too.

use crate::Status;
use crate::constants::{MPI_ERR_INTERN, MPI_SUCCESS};
use crate::hand_written::{Ierror, Variable, set_ierror, subroutines};
use crate::handle::{FileHandle, Handle, from_int, to_int};
use crate::subroutines as c;
use crate::{attribute, logical};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use std::ffi::{c_int, c_void};
use std::mem::transmute;

/// How many different procedures there may be for a kind of callback.
pub(crate) const MOST: usize = 256;

/// The procedures of a kind, by number; 0 if there is none. They stay, since MPI may call them after their
/// handle was freed.
pub(crate) struct Procedures([AtomicUsize; MOST]);

impl Procedures {
    pub(crate) const fn new() -> Procedures {
        Procedures([const { AtomicUsize::new(0) }; MOST])
    }

    /// The number of a procedure, which gets one if it has none; `None` if all are taken.
    fn number(&self, procedure: usize) -> Option<usize> {
        self.0.iter().position(|slot| {
            let taken = slot.compare_exchange(0, procedure, Ordering::AcqRel, Ordering::Acquire);
            taken.is_ok() || taken == Err(procedure)
        })
    }

    pub(crate) fn get(&self, number: usize) -> usize {
        self.0[number].load(Ordering::Acquire)
    }
}

static OPERATORS: Procedures = Procedures::new();
static COMM_HANDLERS: Procedures = Procedures::new();
static WIN_HANDLERS: Procedures = Procedures::new();
static FILE_HANDLERS: Procedures = Procedures::new();
static SESSION_HANDLERS: Procedures = Procedures::new();

pub(crate) type Operator<T> = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut T, *mut c_int);

unsafe extern "C" fn operator<const NUMBER: usize>(
    invec: *mut c_void,
    inoutvec: *mut c_void,
    len: *mut c_int,
    datatype: *mut Handle,
) {
    // SAFETY: the slot of an operator that MPI has holds a procedure of this type.
    let procedure = unsafe { transmute::<usize, Operator<c_int>>(OPERATORS.get(NUMBER)) };
    // SAFETY: MPI passes a handle.
    let mut datatype = to_int(unsafe { *datatype }, c::MPI_Type_toint);
    // SAFETY: the arguments are MPI's.
    unsafe { procedure(invec, inoutvec, len, &raw mut datatype) };
}

type ErrorHandler = unsafe extern "C" fn(*mut c_int, *mut c_int);

/// C's error handlers take further arguments, which these ignore.
macro_rules! error_handler {
    ($name:ident $procedures:ident $handle:ty: $to_int:ident) => {
        unsafe extern "C" fn $name<const NUMBER: usize>(object: *mut $handle, code: *mut c_int) {
            // SAFETY: the slot of a handler that MPI has holds a procedure of this type.
            let procedure = unsafe { transmute::<usize, ErrorHandler>($procedures.get(NUMBER)) };
            // SAFETY: MPI passes a handle.
            let mut object = to_int(unsafe { *object }, c::$to_int);
            // SAFETY: the arguments are MPI's.
            unsafe { procedure(&raw mut object, code) };
        }
    };
}
error_handler! { comm_handler COMM_HANDLERS Handle: MPI_Comm_toint }
error_handler! { win_handler WIN_HANDLERS Handle: MPI_Win_toint }
error_handler! { file_handler FILE_HANDLERS FileHandle: MPI_File_toint }
error_handler! { session_handler SESSION_HANDLERS Handle: MPI_Session_toint }

include!(concat!(env!("OUT_DIR"), "/callbacks.rs"));

/// Makes a handle with the C function of a Fortran procedure.
pub(crate) fn made(
    procedures: &Procedures,
    procedure: *const c_void,
    to: Variable<'_>,
    to_int_of: unsafe extern "C" fn(Handle) -> c_int,
    make: impl FnOnce(usize, &mut Handle) -> c_int,
) -> c_int {
    let Some(number) = procedures.number(procedure.addr()) else { return MPI_ERR_INTERN };
    let mut handle = 0;
    let code = make(number, &mut handle);
    if code == MPI_SUCCESS {
        to.set(to_int(handle, to_int_of));
    }
    code
}

pub(crate) type MakeOperator = unsafe extern "C" fn(*mut c_void, c_int, *mut Handle) -> c_int;

subroutines! {
    op_create [MPI_Op_create PMPI_Op_create]
    "mpi_op_create_" "pmpi_op_create_" "mpi_op_create_f08_" "pmpi_op_create_f08_"
    (procedure: *const c_void, commutes: Variable<'_>, op: Variable<'_>, ierror: Ierror<'_>)
}

unsafe fn op_create(
    procedure: *const c_void,
    commutes: Variable<'_>,
    op: Variable<'_>,
    ierror: Ierror<'_>,
    call: MakeOperator,
) {
    let commutes = logical::to_c(commutes.get());
    let code = made(&OPERATORS, procedure, op, c::MPI_Op_toint, |number, op| {
        // SAFETY: the function lives as long as the process.
        unsafe { call(OPERATOR_FUNCTIONS[number] as *mut c_void, commutes, op) }
    });
    set_ierror(ierror, code);
}

macro_rules! create_errhandler {
    ($body:ident $procedures:ident $functions:ident [$c:ident $pc:ident] $($symbol:literal)+) => {
        subroutines! {
            $body [$c $pc] $($symbol)+ (procedure: *const c_void, errhandler: Variable<'_>, ierror: Ierror<'_>)
        }

        unsafe fn $body(
            procedure: *const c_void,
            errhandler: Variable<'_>,
            ierror: Ierror<'_>,
            call: unsafe extern "C" fn(*mut c_void, *mut Handle) -> c_int,
        ) {
            let code = made(&$procedures, procedure, errhandler, c::MPI_Errhandler_toint, |number, handler| {
                // SAFETY: the function lives as long as the process.
                unsafe { call($functions[number] as *mut c_void, handler) }
            });
            set_ierror(ierror, code);
        }
    };
}
create_errhandler! {
    comm_create_errhandler COMM_HANDLERS COMM_HANDLER_FUNCTIONS
    [MPI_Comm_create_errhandler PMPI_Comm_create_errhandler]
    "mpi_comm_create_errhandler_" "pmpi_comm_create_errhandler_"
    "mpi_comm_create_errhandler_f08_" "pmpi_comm_create_errhandler_f08_"
}
create_errhandler! {
    win_create_errhandler WIN_HANDLERS WIN_HANDLER_FUNCTIONS
    [MPI_Win_create_errhandler PMPI_Win_create_errhandler]
    "mpi_win_create_errhandler_" "pmpi_win_create_errhandler_"
    "mpi_win_create_errhandler_f08_" "pmpi_win_create_errhandler_f08_"
}
create_errhandler! {
    file_create_errhandler FILE_HANDLERS FILE_HANDLER_FUNCTIONS
    [MPI_File_create_errhandler PMPI_File_create_errhandler]
    "mpi_file_create_errhandler_" "pmpi_file_create_errhandler_"
    "mpi_file_create_errhandler_f08_" "pmpi_file_create_errhandler_f08_"
}
create_errhandler! {
    session_create_errhandler SESSION_HANDLERS SESSION_HANDLER_FUNCTIONS
    [MPI_Session_create_errhandler PMPI_Session_create_errhandler]
    "mpi_session_create_errhandler_" "pmpi_session_create_errhandler_"
    "mpi_session_create_errhandler_f08_" "pmpi_session_create_errhandler_f08_"
}

type CopyCallback<T> =
    unsafe extern "C" fn(*mut c_int, *mut c_int, *mut T, *mut T, *mut T, *mut c_int, *mut c_int);
type Delete<T> = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut T, *mut T, *mut c_int);

/// The extra state of a key of attributes, which are of type `T`. It is never freed, since MPI does not tell
/// of its last use.
struct Key<T> {
    copy: CopyCallback<T>,
    delete: Delete<T>,
    state: T,
}

macro_rules! create_keyval {
    ($body:ident $copy:ident $delete:ident $to_int:ident $value:ty; [$c:ident $pc:ident] $($symbol:literal)+) => {
        unsafe extern "C" fn $copy(
            object: Handle,
            mut keyval: c_int,
            key: *mut Key<$value>,
            given: *mut c_void,
            result: *mut *mut c_void,
            flag: *mut c_int,
        ) -> c_int {
            // SAFETY: the key was made below, and nobody changes it.
            let Key { copy, state, .. } = unsafe { &*key };
            let (mut object, mut state) = (to_int(object, c::$to_int), *state);
            let mut given = attribute::to_fortran(given) as $value;
            let (mut copied, mut is_set, mut code) = (0, 0, MPI_SUCCESS);
            // SAFETY: a procedure of the program with these arguments.
            unsafe {
                copy(
                    &raw mut object,
                    &raw mut keyval,
                    &raw mut state,
                    &raw mut given,
                    &raw mut copied,
                    &raw mut is_set,
                    &raw mut code,
                );
            }
            let is_set = logical::to_c(is_set);
            if is_set != 0 {
                // SAFETY: MPI has room for the results.
                unsafe { result.write(attribute::to_c(copied as isize)) };
            }
            // SAFETY: the same.
            unsafe { flag.write(is_set) };
            code
        }

        unsafe extern "C" fn $delete(object: Handle, mut keyval: c_int, value: *mut c_void, key: *mut Key<$value>) -> c_int {
            // SAFETY: the key was made below, and nobody changes it.
            let Key { delete, state, .. } = unsafe { &*key };
            let (mut object, mut state) = (to_int(object, c::$to_int), *state);
            let mut value = attribute::to_fortran(value) as $value;
            let mut code = MPI_SUCCESS;
            // SAFETY: a procedure of the program with these arguments.
            unsafe {
                delete(&raw mut object, &raw mut keyval, &raw mut value, &raw mut state, &raw mut code);
            }
            code
        }

        subroutines! {
            $body [$c $pc] $($symbol)+
            (copy: CopyCallback<$value>, delete: Delete<$value>, keyval: Variable<'_>, state: Variable<'_, $value>, ierror: Ierror<'_>)
        }

        unsafe fn $body(
            copy: CopyCallback<$value>,
            delete: Delete<$value>,
            keyval: Variable<'_>,
            state: Variable<'_, $value>,
            ierror: Ierror<'_>,
            call: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut c_void) -> c_int,
        ) {
            let key = Box::into_raw(Box::new(Key::<$value> { copy, delete, state: state.get() }));
            let (copy, delete) = ($copy as *mut c_void, $delete as *mut c_void);
            // SAFETY: both functions and the key live as long as the process.
            set_ierror(ierror, unsafe { call(copy, delete, keyval.as_ptr(), key.cast()) });
        }
    };
}
create_keyval! {
    comm_create_keyval copy_of_comm delete_of_comm MPI_Comm_toint isize;
    [MPI_Comm_create_keyval PMPI_Comm_create_keyval]
    "mpi_comm_create_keyval_" "pmpi_comm_create_keyval_" "mpi_comm_create_keyval_f08_" "pmpi_comm_create_keyval_f08_"
}
create_keyval! {
    type_create_keyval copy_of_type delete_of_type MPI_Type_toint isize;
    [MPI_Type_create_keyval PMPI_Type_create_keyval]
    "mpi_type_create_keyval_" "pmpi_type_create_keyval_" "mpi_type_create_keyval_f08_" "pmpi_type_create_keyval_f08_"
}
create_keyval! {
    win_create_keyval copy_of_win delete_of_win MPI_Win_toint isize;
    [MPI_Win_create_keyval PMPI_Win_create_keyval]
    "mpi_win_create_keyval_" "pmpi_win_create_keyval_" "mpi_win_create_keyval_f08_" "pmpi_win_create_keyval_f08_"
}
// The attributes of MPI-1 are plain integers.
create_keyval! {
    keyval_create copy_of_integer delete_of_integer MPI_Comm_toint c_int;
    [MPI_Keyval_create PMPI_Keyval_create] "mpi_keyval_create_" "pmpi_keyval_create_"
}

/// The predefined procedures, under one name for each kind of object.
macro_rules! predefined {
    ($($value:ty: $null_copy:literal $dup:literal $null_delete:literal)+) => {
        $(const _: () = {
            #[unsafe(export_name = $null_copy)]
            extern "C" fn null_copy(
                _: Variable<'_>, _: Variable<'_>, _: Variable<'_, $value>, _: Variable<'_, $value>,
                _: Variable<'_, $value>, flag: Variable<'_>, ierror: Variable<'_>,
            ) {
                flag.set(logical::to_fortran(0));
                ierror.set(MPI_SUCCESS);
            }
            #[unsafe(export_name = $dup)]
            extern "C" fn dup(
                _: Variable<'_>, _: Variable<'_>, _: Variable<'_, $value>, given: Variable<'_, $value>,
                copied: Variable<'_, $value>, flag: Variable<'_>, ierror: Variable<'_>,
            ) {
                copied.set(given.get());
                flag.set(logical::to_fortran(1));
                ierror.set(MPI_SUCCESS);
            }
            #[unsafe(export_name = $null_delete)]
            extern "C" fn null_delete(
                _: Variable<'_>, _: Variable<'_>, _: Variable<'_, $value>, _: Variable<'_, $value>, ierror: Variable<'_>,
            ) {
                ierror.set(MPI_SUCCESS);
            }
        };)+
    };
}
predefined! {
    isize: "mpi_comm_null_copy_fn_" "mpi_comm_dup_fn_" "mpi_comm_null_delete_fn_"
    isize: "mpi_type_null_copy_fn_" "mpi_type_dup_fn_" "mpi_type_null_delete_fn_"
    isize: "mpi_win_null_copy_fn_" "mpi_win_dup_fn_" "mpi_win_null_delete_fn_"
    c_int: "mpi_null_copy_fn_" "mpi_dup_fn_" "mpi_null_delete_fn_"
}

type Query = unsafe extern "C" fn(*mut isize, *mut Status, *mut c_int);
type Free = unsafe extern "C" fn(*mut isize, *mut c_int);
type Cancel = unsafe extern "C" fn(*mut isize, *mut c_int, *mut c_int);

/// The extra state of a generalized request in C, which MPI frees once. That in Fortran is the program's own
/// variable: procedures may change it, as under other libraries.
struct Generalized {
    query: Query,
    free: Free,
    cancel: Cancel,
    state: *mut isize,
}

unsafe extern "C" fn query(request: *mut Generalized, status: *mut Status) -> c_int {
    // SAFETY: MPI has not freed it.
    let request = unsafe { &*request };
    let mut code = MPI_SUCCESS;
    // SAFETY: a procedure of the program with these arguments.
    unsafe { (request.query)(request.state, status, &raw mut code) };
    code
}

unsafe extern "C" fn free(request: *mut Generalized) -> c_int {
    // SAFETY: MPI frees it once, and last.
    let request = unsafe { Box::from_raw(request) };
    let mut code = MPI_SUCCESS;
    // SAFETY: a procedure of the program with these arguments.
    unsafe { (request.free)(request.state, &raw mut code) };
    code
}

unsafe extern "C" fn cancel(request: *mut Generalized, complete: c_int) -> c_int {
    // SAFETY: MPI has not freed it.
    let request = unsafe { &*request };
    let (mut complete, mut code) = (logical::to_fortran(complete), MPI_SUCCESS);
    // SAFETY: a procedure of the program with these arguments.
    unsafe { (request.cancel)(request.state, &raw mut complete, &raw mut code) };
    code
}

subroutines! {
    grequest_start [MPI_Grequest_start PMPI_Grequest_start]
    "mpi_grequest_start_" "pmpi_grequest_start_" "mpi_grequest_start_f08_" "pmpi_grequest_start_f08_"
    (
        query: Query, free: Free, cancel: Cancel, state: Variable<'_, isize>, request: Variable<'_>,
        ierror: Ierror<'_>,
    )
}

unsafe fn grequest_start(
    query_of: Query,
    free_of: Free,
    cancel_of: Cancel,
    state: Variable<'_, isize>,
    request: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void, *mut Handle) -> c_int,
) {
    let procedures = Generalized { query: query_of, free: free_of, cancel: cancel_of, state: state.as_ptr() };
    let procedures = Box::into_raw(Box::new(procedures));
    let (query, free, cancel) = (query as *mut c_void, free as *mut c_void, cancel as *mut c_void);
    let mut made = from_int(0, c::MPI_Request_fromint);
    // SAFETY: the functions live as long as the process, and the procedures until the last call.
    let code = unsafe { call(query, free, cancel, procedures.cast(), &raw mut made) };
    if code == MPI_SUCCESS {
        request.set(to_int(made, c::MPI_Request_toint));
    } else {
        // SAFETY: MPI has not taken it.
        drop(unsafe { Box::from_raw(procedures) });
    }
    set_ierror(ierror, code);
}
