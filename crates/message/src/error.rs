//! Errors of MPI calls: a class or code of the standard, a message for a person, and
//! the object they belong to.

use heddle_platform::allocate::OutOfMemory;
use heddle_spec::constants as mpi;
use heddle_spec::function_table::names;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The result of an MPI operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error on its way to an error handler. It is one word, so that results of hot functions stay small.
#[derive(Clone)]
pub struct Error(Box<Detail>);

#[derive(Clone)]
struct Detail {
    code: i32,
    message: String,
    owner: Option<ErrorOwner>,
}

/// The object whose error handler is responsible for an error. This crate keeps it alive, and
/// knows nothing else about it.
pub type ErrorOwner = Arc<dyn Any + Send + Sync>;

impl Error {
    /// An error of the given class or code (`MPI_ERR_…`). The message says what, where and what to do.
    #[cold]
    pub fn new(code: i32, message: impl Into<String>) -> Error {
        Error(Box::new(Detail { code, message: message.into(), owner: None }))
    }

    /// Gives the error an owner, whose error handler is to handle it: a request belongs to an object that the
    /// call that completes it does not name. An error that has an owner keeps it.
    #[must_use]
    pub fn with_owner(mut self, owner: ErrorOwner) -> Error {
        self.0.owner.get_or_insert(owner);
        self
    }

    /// The error code; for Heddle's own errors a class, except for functions that are not built.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// A description of what went wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The object whose error handler is to run. `None` stands for the object that the call itself names.
    pub fn owner(&self) -> Option<&ErrorOwner> {
        self.0.owner.as_ref()
    }

    /// `MPI_ERR_UNSUPPORTED_OPERATION`: the named function or feature is not built yet. Each function has a
    /// code of its own in this class, so that `MPI_Error_string` can name it.
    #[cold]
    pub fn unsupported(what: &str) -> Error {
        let number = names().iter().position(|name| name == what);
        let code =
            number.map_or(mpi::MPI_ERR_UNSUPPORTED_OPERATION, |number| FIRST_UNSUPPORTED + number as i32);
        Error::new(code, unsupported_text(what))
    }
}

/// `MPI_ERR_NO_MEM`.
impl From<OutOfMemory> for Error {
    #[cold]
    fn from(refused: OutOfMemory) -> Error {
        Error::new(mpi::MPI_ERR_NO_MEM, refused.to_string())
    }
}

/// The code of the first function of the standard's table that says that it is not built; those of the others
/// follow. They lie between the standard's classes and `MPI_ERR_LASTCODE`, after which come the program's
/// codes.
const FIRST_UNSUPPORTED: i32 = 0x2000;

/// Returns true for a code that is Heddle's own: neither a class of the standard nor the program's.
pub fn is_own_code(code: i32) -> bool {
    (FIRST_UNSUPPORTED..mpi::MPI_ERR_LASTCODE).contains(&code)
}

fn unsupported_text(what: &str) -> String {
    format!("{what} is not built yet in Heddle; see docs/reference.md")
}

/// The message of a code that says that a function is not built; `None` for every other code.
pub fn text_of_unsupported(code: i32) -> Option<String> {
    let number = usize::try_from(code.checked_sub(FIRST_UNSUPPORTED)?).ok()?;
    names().get(number).map(|name| unsupported_text(name))
}

/// Two errors are equal if they say the same.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.code() == other.code() && self.message() == other.message()
    }
}

impl Eq for Error {}

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
