//! Errors of MPI calls: a class or code of the standard, a message for a person, and the object they belong to.

use crate::comm::KeptComm;
use heddle_spec::constants as mpi;
use std::fmt;

/// The result of an MPI operation.
pub type Result<T> = std::result::Result<T, Error>;

/// An error on its way to an error handler. One word, so that results of hot functions stay small.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Clone, PartialEq, Eq)]
struct Detail {
    code: i32,
    message: String,
    comm: Option<KeptComm>,
}

impl Error {
    /// An error of the given class or code (`MPI_ERR_…`). The message says what, where and what to do.
    #[cold]
    pub fn new(code: i32, message: impl Into<String>) -> Error {
        Error(Box::new(Detail { code, message: message.into(), comm: None }))
    }

    /// The same error, to be handled by the error handler of this communicator: requests belong to one, although the
    /// calls that complete them do not name it.
    #[must_use]
    pub fn on_comm(mut self, comm: KeptComm) -> Error {
        self.0.comm.get_or_insert(comm);
        self
    }

    /// The error code; for Heddle's own errors a class.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The communicator whose error handler is to run, if not that of the call's own argument.
    pub fn comm(&self) -> Option<&KeptComm> {
        self.0.comm.as_ref()
    }

    /// `MPI_ERR_UNSUPPORTED_OPERATION`: the named function or feature is not built yet.
    #[cold]
    pub fn unsupported(what: &str) -> Error {
        Error::new(
            mpi::MPI_ERR_UNSUPPORTED_OPERATION,
            format!("{what} is not built yet in Heddle; see the README"),
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error {}: {}", self.0.code, self.0.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
