//! Errors on their way to the program.

use heddle_spec::constants::{MPI_ERR_UNSUPPORTED_OPERATION, MPI_T_ERR_NOT_SUPPORTED};
use heddle_spec::handle::*;
use std::ffi::c_int;

/// The result of a body.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What went wrong: a class of the standard, and a sentence.
#[derive(Debug)]
pub(crate) struct Error(Box<(i32, String)>);

impl Error {
    #[cold]
    pub(crate) fn new(class: i32, message: impl Into<String>) -> Self {
        Self(Box::new((class, message.into())))
    }

    #[cold]
    pub(crate) fn unsupported(what: &str) -> Self {
        let message = format!("{what} is not built yet in Heddle; the README lists what is missing");
        Self::new(MPI_ERR_UNSUPPORTED_OPERATION, message)
    }
}

/// Whose error handler is called.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "the engine's error handlers will ask")]
pub(crate) enum Object {
    Comm(CommHandle),
    Win(WinHandle),
    File(FileHandle),
    Session(SessionHandle),
    Request(RequestHandle),
    Message(MessageHandle),
    /// The error handler itself, given by the program for what has no object yet.
    Errhandler(ErrhandlerHandle),
    /// No object: the default error handler.
    Default,
    /// No error handler at all.
    Returned,
}

/// Calls the error handler of `object`; what it returns is what the function returns.
pub(crate) fn handle(object: Object, function: &str, error: Error) -> c_int {
    let (class, message) = *error.0;
    match object {
        Object::Returned if class == MPI_ERR_UNSUPPORTED_OPERATION => MPI_T_ERR_NOT_SUPPORTED,
        Object::Returned => class,
        _ => {
            eprintln!("{function}: {message}");
            std::process::abort();
        }
    }
}
