//! Errors for the program: an error of the crates below, with the object whose error handler is called.

pub(crate) use heddle_comm::error::{Error, Result};
pub(crate) use heddle_process::raise::ErrorObject;
