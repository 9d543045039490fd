//! Errors run the error handler that is responsible for them (MPI 5.0, section 9.3).

use crate::abort::abort;
use crate::file;
use heddle_comm::errhandler::{self, HandlerFunction, is_predefined};
use heddle_comm::error::{Error, Result};
use heddle_comm::error_code;
use heddle_comm::session::{self, Session};
use heddle_comm::{COMMS, CommRef, KeptComm, group};
use heddle_message::{domain, request};
use heddle_rma::{WINS, WinRef};
use heddle_spec::constants as mpi;
use std::ffi::c_int;
use std::ptr::null;

/// The object whose error handler is called, by its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorObject {
    /// A communicator's.
    Comm(usize),
    /// A window's.
    Win(usize),
    /// A file's; that of `MPI_FILE_NULL` if there is no such file.
    File(usize),
    /// A session's.
    Session(usize),
    /// The error handler of the session that a group comes from.
    Group(usize),
    /// The error handler of the communicator that a request belongs to.
    Request(usize),
    /// The error handler of the communicator that a matched message belongs to.
    Message(usize),
    /// This error handler, which the program gave for a call that has no object yet.
    Errhandler(usize),
    /// No object: the error handler of `MPI_COMM_SELF`, or that of `MPI_COMM_WORLD`.
    Default,
    /// No error handler at all: the code is returned (the tools interface).
    Returned,
}

/// The error handler and its arguments.
struct Called {
    handler: usize,
    object: usize,
    /// Name of the communicator, if it is one.
    name: String,
}

fn of_comm(comm: &CommRef) -> Called {
    Called { handler: comm.errhandler.get(), object: comm.handle(), name: comm.name() }
}

/// Errors without an object run the handler of `MPI_COMM_SELF`; before `MPI_Init` and after `MPI_Finalize`,
/// in sessions or not, they run the initial error handler, which is `MPI_ERRORS_ARE_FATAL` unless the command
/// line names another one (MPI 5.0, section 9.3). Until the program sets a handler on `MPI_COMM_SELF`, they
/// run that of `MPI_COMM_WORLD`, because programs written for MPI 3 set only this one.
fn default_handler() -> Called {
    match (CommRef::comm_self(), CommRef::world()) {
        (Ok(own), Ok(world)) if !own.errhandler.is_chosen() && world.errhandler.is_chosen() => {
            of_comm(&world)
        }
        (Ok(own), _) => of_comm(&own),
        (Err(_), _) => Called { handler: errhandler::initial(), object: 0, name: String::new() },
    }
}

fn of_win(win: &WinRef) -> Called {
    Called { handler: win.errhandler.get(), object: win.handle(), name: win.name() }
}

fn of_session(handle: usize, session: &Session) -> Called {
    Called { handler: session.errhandler.get(), object: handle, name: "a session".to_owned() }
}

fn of_null_file() -> Called {
    let handler = file::default_errhandler().get();
    Called { handler, object: mpi::MPI_FILE_NULL, name: "MPI_FILE_NULL".to_owned() }
}

fn called(object: ErrorObject, error: &Error) -> Called {
    let comm = match (KeptComm::of_error(error), object) {
        (Some(comm), _) => return of_comm(comm),
        (None, ErrorObject::Comm(comm)) => {
            return CommRef::from_handle(comm).map_or_else(|_| default_handler(), |comm| of_comm(&comm));
        }
        (None, ErrorObject::Win(win)) => {
            return WinRef::from_handle(win).map_or_else(|_| default_handler(), |win| of_win(&win));
        }
        (None, ErrorObject::File(_)) if domain::current().is_ok() => return of_null_file(),
        (None, ErrorObject::Request(request)) => request::comm_of(request).and_then(KeptComm::of_request),
        (None, ErrorObject::Message(message)) => heddle_p2p::comm_of_message(message),
        (None, ErrorObject::Session(handle)) => {
            return session::from_handle(handle)
                .map_or_else(|_| default_handler(), |session| of_session(handle, &session));
        }
        (None, ErrorObject::Group(handle)) => {
            let group = group::from_handle(handle).ok();
            let of = group.as_ref().and_then(|group| group.session()).and_then(session::handle_of);
            return of.map_or_else(default_handler, |(handle, session)| of_session(handle, &session));
        }
        (None, ErrorObject::Errhandler(handler))
            if is_predefined(handler) || errhandler::function_of(handler).is_some() =>
        {
            return Called { handler, object: errhandler::null_object_of(handler), name: String::new() };
        }
        _ => None,
    };
    comm.map_or_else(default_handler, |comm| of_comm(&comm))
}

/// Calls the error handler for an error of an MPI function; returns the function's return value.
#[cold]
pub fn handle(object: ErrorObject, function: &str, error: &Error) -> c_int {
    if object == ErrorObject::Returned {
        return match error_code::class_of(error.code()).unwrap_or(error.code()) {
            mpi::MPI_ERR_UNSUPPORTED_OPERATION => mpi::MPI_T_ERR_NOT_SUPPORTED,
            mpi::MPI_ERR_ARG | mpi::MPI_ERR_COUNT => mpi::MPI_T_ERR_INVALID,
            code => code,
        };
    }
    call(&called(object, error), function, error)
}

fn call(called: &Called, function: &str, error: &Error) -> c_int {
    let mut code = error.code();
    match called.handler {
        mpi::MPI_ERRORS_RETURN => {}
        mpi::MPI_ERRORS_ARE_FATAL | mpi::MPI_ERRORS_ABORT => fatal(called, function, error),
        handle => match errhandler::function_of(handle) {
            None => fatal(called, function, error),
            Some(function) => {
                let mut object = (function.abi().handle)(called.object);
                code = (function.abi().error)(code);
                // SAFETY: the program registered this function for calls of this form; an error before the
                // object exists passes the null handle of its kind.
                let call = |of: HandlerFunction| unsafe { of(&raw mut object, &raw mut code, null::<u8>()) };
                function.call(call);
                code = error.code();
            }
        },
    }
    code
}

/// `MPI_Comm_call_errhandler`: runs the handler of a communicator with a code of the program's choice.
///
/// # Errors
/// `MPI_ERR_COMM`.
pub fn call_of_comm(comm: usize, code: i32) -> Result<()> {
    let comm = CommRef::from_handle(comm)?;
    let error = Error::new(code, "the program called the error handler");
    call(&of_comm(&comm), "MPI_Comm_call_errhandler", &error);
    Ok(())
}

/// `MPI_Win_call_errhandler`: runs the handler of a window with a code of the program's choice.
///
/// # Errors
/// `MPI_ERR_WIN`.
pub fn call_of_win(win: usize, code: i32) -> Result<()> {
    let win = WinRef::from_handle(win)?;
    let error = Error::new(code, "the program called the error handler");
    call(&of_win(&win), "MPI_Win_call_errhandler", &error);
    Ok(())
}

/// `MPI_File_call_errhandler`: runs the handler of a file with a code of the program's choice.
///
/// # Errors
/// `MPI_ERR_FILE`.
pub fn call_of_file(file: usize, code: i32) -> Result<()> {
    file::errhandler_of(file)?;
    let error = Error::new(code, "the program called the error handler");
    call(&of_null_file(), "MPI_File_call_errhandler", &error);
    Ok(())
}

/// `MPI_Session_call_errhandler`: runs the handler of a session with a code of the program's choice.
///
/// # Errors
/// `MPI_ERR_SESSION`.
pub fn call_of_session(handle: usize, code: i32) -> Result<()> {
    let session = session::from_handle(handle)?;
    let error = Error::new(code, "the program called the error handler");
    call(&of_session(handle, &session), "MPI_Session_call_errhandler", &error);
    Ok(())
}

fn fatal(called: &Called, function: &str, error: &Error) -> ! {
    let code = error.code();
    let class = error_code::class_of(code).unwrap_or(code);
    let on_rank = match domain::current() {
        Ok(domain) => format!(" on rank {}", domain.rank()),
        Err(_) => String::new(),
    };
    let in_comm = match called.name.as_str() {
        "" if COMMS.get(called.object).is_some() => " in a communicator without a name".to_owned(),
        "" if WINS.get(called.object).is_some() => " in a window without a name".to_owned(),
        "" => String::new(),
        name => format!(" in {name}"),
    };
    let kind = error_code::class_name(class);
    let kind = kind.map_or_else(|| format!("error code {code}"), str::to_owned);
    let text = format!("{function} failed{on_rank}{in_comm}: {kind}: {}", error.message());
    let short = format!("{function}: {kind}");
    // A code of the program's is what it expects as exit status; the library's say no more than their class.
    abort(if code > mpi::MPI_ERR_LASTCODE { code } else { class }, &text, &short)
}
