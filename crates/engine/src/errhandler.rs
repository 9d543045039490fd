//! Error handlers (MPI 5.0, chapter 9.3).
//!
//! A handler that the program made lives while the program holds handles to it or an object has it: freeing one that
//! is in use is legal, and `MPI_Comm_get_errhandler` gives a handle that must be freed once more. So each object here
//! counts its holders, and its handle stays valid until the last has let go.

use crate::abort::abort;
use crate::comm::{COMMS, CommRef};
use crate::error::{Error, Result};
use crate::error_code;
use crate::object_table::{Kind, Table};
use crate::process;
use crate::request;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::constants as mpi;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// The kinds of objects that have error handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A communicator.
    Comm,
    /// A window.
    Win,
    /// A file.
    File,
    /// A session.
    Session,
}

/// A function of the program that is called with the object's handle and the error code.
pub type HandlerFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// An error handler that the program made.
#[derive(Debug)]
pub struct UserHandler {
    holder: Holder,
    function: HandlerFunction,
    /// Handles that the program holds, and objects that have it.
    holders: AtomicUsize,
}

static HANDLERS: Table<UserHandler> = Table::new(Kind::Errhandler);

fn is_predefined(handle: usize) -> bool {
    matches!(handle, mpi::MPI_ERRORS_ARE_FATAL | mpi::MPI_ERRORS_ABORT | mpi::MPI_ERRORS_RETURN)
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_ERRHANDLER_NULL {
        "MPI_ERRHANDLER_NULL is not an error handler to work with".to_owned()
    } else {
        format!("{handle:#x} is not an error handler: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_ERRHANDLER, what)
}

/// Makes an error handler for objects of a kind; returns its handle.
pub fn create(holder: Holder, function: HandlerFunction) -> usize {
    HANDLERS.insert(UserHandler { holder, function, holders: AtomicUsize::new(1) })
}

/// Takes back one of the program's handles.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER` if it is not a live handler's handle. A predefined one may be given back, as it may be got.
pub fn free(handle: usize) -> Result<()> {
    if !is_predefined(handle) && !release(handle) {
        return Err(bad_handle(handle));
    }
    Ok(())
}

/// Whether a handle can be set on an object of this kind.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER`.
pub fn check(handle: usize, holder: Holder) -> Result<()> {
    if is_predefined(handle) {
        return Ok(());
    }
    let handler = HANDLERS.get(handle).ok_or_else(|| bad_handle(handle))?;
    if handler.holder == holder {
        return Ok(());
    }
    let message = format!(
        "the error handler was made for objects of the kind {:?}, this one is of the kind {holder:?}",
        handler.holder
    );
    Err(Error::new(mpi::MPI_ERR_ERRHANDLER, message))
}

/// Adds a holder.
fn retain(handle: usize) {
    if let Some(handler) = HANDLERS.get(handle) {
        handler.holders.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes one holder away; with the last the handle becomes invalid.
fn release(handle: usize) -> bool {
    let Some(handler) = HANDLERS.get(handle) else { return false };
    if handler.holders.fetch_sub(1, Ordering::AcqRel) == 1 {
        drop(HANDLERS.remove(handle));
    }
    true
}

/// The handle of a live handler with this index, for `MPI_Errhandler_fromint`.
pub fn handle_of_index(index: u32) -> Option<usize> {
    HANDLERS.handle_of_index(index)
}

/// The error handler that an object has.
#[derive(Debug)]
pub struct ErrhandlerCell(Mutex<usize>);

impl Default for ErrhandlerCell {
    fn default() -> ErrhandlerCell {
        ErrhandlerCell(Mutex::new(mpi::MPI_ERRORS_ARE_FATAL))
    }
}

impl ErrhandlerCell {
    /// The handle.
    pub fn get(&self) -> usize {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle, for the program to hold: it has to be freed.
    pub fn share(&self) -> usize {
        let handle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        retain(*handle);
        *handle
    }

    /// Sets the handle of a handler, which from now on has this object as a holder.
    pub fn set(&self, handle: usize) {
        retain(handle);
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), handle);
        release(before);
    }
}

impl Drop for ErrhandlerCell {
    fn drop(&mut self) {
        release(self.get());
    }
}

/// Whose error handler is to be called: an object by its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A communicator's.
    Comm(usize),
    /// A window's.
    Win(usize),
    /// A file's.
    File(usize),
    /// A session's.
    Session(usize),
    /// That of the communicator a request belongs to.
    Request(usize),
    /// That of the communicator a matched message belongs to.
    Message(usize),
    /// This error handler itself, given by the program for what has no object yet.
    Errhandler(usize),
    /// No object: the one of `MPI_COMM_SELF`.
    Default,
    /// No error handler at all: the code is returned (the tools interface).
    Returned,
}

/// The error handler and what it is called with.
struct Called {
    handler: usize,
    object: usize,
    /// Name of the communicator, if it is one.
    name: String,
}

fn of_comm(comm: &CommRef) -> Called {
    Called { handler: comm.errhandler.get(), object: comm.handle(), name: comm.name() }
}

/// Errors that belong to no object are those of `MPI_COMM_SELF`, and outside of initialisation and finalisation
/// those of the initial error handler, which is `MPI_ERRORS_ARE_FATAL` (MPI 5.0, section 9.3).
fn default_handler() -> Called {
    match process::current() {
        Ok(process) => of_comm(&CommRef::own(process)),
        Err(_) => Called { handler: mpi::MPI_ERRORS_ARE_FATAL, object: 0, name: String::new() },
    }
}

fn called(object: Object, error: &Error) -> Called {
    let comm = match (error.comm(), object) {
        (Some(comm), _) => return of_comm(comm),
        (None, Object::Comm(comm)) => {
            return CommRef::from_handle(comm).map_or_else(|_| default_handler(), |comm| of_comm(&comm));
        }
        (None, Object::Request(request)) => request::comm_of(request),
        (None, Object::Message(message)) => crate::p2p::comm_of_message(message),
        (None, Object::Errhandler(handler)) if is_predefined(handler) || HANDLERS.get(handler).is_some() => {
            return Called { handler, object: 0, name: String::new() };
        }
        _ => None,
    };
    comm.map_or_else(default_handler, |comm| of_comm(&comm))
}

/// Calls the error handler responsible for an error of a function of MPI; returns what the function is to return.
#[cold]
pub fn handle(object: Object, function: &str, error: &Error) -> c_int {
    if object == Object::Returned {
        return match error.code() {
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
        handle => match HANDLERS.get(handle) {
            None => fatal(called, function, error),
            Some(handler) => {
                let mut object = called.object;
                // SAFETY: the program gave this function to be called so; an error before the object exists is passed
                // with the null handle of its kind.
                unsafe { (handler.function)(&raw mut object, &raw mut code, std::ptr::null::<u8>()) };
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

fn fatal(called: &Called, function: &str, error: &Error) -> ! {
    let code = error.code();
    let class = error_code::class_of(code).unwrap_or(code);
    let place = match process::current() {
        Ok(process) => format!(" on rank {}", process.rank()),
        Err(_) => String::new(),
    };
    let of = match called.name.as_str() {
        "" if COMMS.get(called.object).is_some() => " in a communicator without a name".to_owned(),
        "" => String::new(),
        name => format!(" in {name}"),
    };
    let kind = error_code::class_name(class);
    let kind = kind.map_or_else(|| format!("error code {code}"), str::to_owned);
    let text = format!("{function} failed{place}{of}: {kind}: {}", error.message());
    let short = format!("{function}: {kind}");
    abort(code, &text, &short)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stable Rust cannot define a C-variadic function; what it is called with beyond the two goes unread.
    unsafe extern "C" fn ignore(_object: *mut usize, _code: *mut c_int) {}

    fn handler() -> HandlerFunction {
        // SAFETY: the test never calls it.
        unsafe {
            std::mem::transmute::<unsafe extern "C" fn(*mut usize, *mut c_int), HandlerFunction>(ignore)
        }
    }

    #[test]
    fn a_freed_handler_lives_as_long_as_an_object_has_it() {
        let cell = ErrhandlerCell::default();
        assert_eq!(cell.get(), mpi::MPI_ERRORS_ARE_FATAL);
        let handle = create(Holder::Comm, handler());
        assert!(check(handle, Holder::Win).is_err());
        check(handle, Holder::Comm).expect("its kind");
        cell.set(handle);
        free(handle).expect("the program's handle");
        check(cell.get(), Holder::Comm).expect("the object still has it");
        assert_eq!(cell.share(), handle);
        cell.set(mpi::MPI_ERRORS_RETURN);
        check(handle, Holder::Comm).expect("shared with the program");
        free(handle).expect("the shared handle");
        assert!(free(handle).is_err() && check(handle, Holder::Comm).is_err());
    }

    #[test]
    fn the_last_object_takes_the_handler_with_it() {
        let handle = create(Holder::Session, handler());
        let cells = [ErrhandlerCell::default(), ErrhandlerCell::default()];
        cells.iter().for_each(|cell| cell.set(handle));
        free(handle).expect("the program's handle");
        drop(cells);
        assert!(check(handle, Holder::Session).is_err());
    }

    #[test]
    fn predefined_handlers_fit_everything_and_null_nothing() {
        for handle in [mpi::MPI_ERRORS_ARE_FATAL, mpi::MPI_ERRORS_ABORT, mpi::MPI_ERRORS_RETURN] {
            check(handle, Holder::File).expect("predefined");
            free(handle).expect("what was got may be freed");
        }
        let error = check(mpi::MPI_ERRHANDLER_NULL, Holder::Comm).expect_err("null");
        assert_eq!(error.code(), mpi::MPI_ERR_ERRHANDLER);
    }
}
