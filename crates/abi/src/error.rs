//! Errors on their way to the program: the engine's, with the object whose error handler is called.

pub(crate) use heddle_engine::error::{Error, Result};
pub(crate) use heddle_engine::raise::Object;
