//! Error classes, codes and texts.

use crate::argument::{Out, Text, TextOut};
use crate::error::{Error, Result};
use heddle_comm::error_code;
use heddle_spec::constants as mpi;
use std::ffi::c_int;

pub(crate) fn error_class(code: c_int, class: Out<c_int>) -> Result<()> {
    class.set(error_code::class_of(code)?)
}

pub(crate) fn error_string(code: c_int, string: TextOut, length: Out<c_int>) -> Result<()> {
    length.set(string.set(&error_code::text(code)?, mpi::MPI_MAX_ERROR_STRING)?)
}

pub(crate) fn add_error_class(class: Out<c_int>) -> Result<()> {
    let class = class.variable()?;
    *class = error_code::add_class();
    Ok(())
}

pub(crate) fn add_error_code(class: c_int, code: Out<c_int>) -> Result<()> {
    let code = code.variable()?;
    *code = error_code::add_code(class)?;
    Ok(())
}

pub(crate) fn add_error_string(code: c_int, string: Text<'_>) -> Result<()> {
    let text = string.get()?;
    if text.len() >= mpi::MPI_MAX_ERROR_STRING as usize {
        let message = format!(
            "the text has {} bytes; at most {} fit into MPI_MAX_ERROR_STRING",
            text.len(),
            mpi::MPI_MAX_ERROR_STRING - 1
        );
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    error_code::add_text(code, text)
}

pub(crate) fn remove_error_class(class: c_int) -> Result<()> {
    error_code::remove_class(class)
}

pub(crate) fn remove_error_code(code: c_int) -> Result<()> {
    error_code::remove_code(code)
}

pub(crate) fn remove_error_string(code: c_int) -> Result<()> {
    error_code::remove_text(code)
}
