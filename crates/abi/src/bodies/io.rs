//! Input and output: the error handler of `MPI_FILE_NULL`, as long as there are no files.

use super::env::create;
use crate::argument::{Callback, Out};
use crate::error::Result;
use heddle_comm::errhandler::{self, Holder};
use heddle_process::{file, raise};
use heddle_spec::handle::{ErrhandlerHandle, FileHandle};
use std::ffi::c_int;

pub(crate) fn file_create_errhandler(function: Callback, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    create(Holder::File, function, errhandler)
}

pub(crate) fn file_get_errhandler(file: FileHandle, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    let cell = file::errhandler_of(file.0)?;
    let errhandler = errhandler.variable()?;
    errhandler.0 = cell.share();
    Ok(())
}

pub(crate) fn file_set_errhandler(file: FileHandle, errhandler: ErrhandlerHandle) -> Result<()> {
    let cell = file::errhandler_of(file.0)?;
    errhandler::check(errhandler.0, Holder::File)?;
    cell.set(errhandler.0);
    Ok(())
}

pub(crate) fn file_call_errhandler(file: FileHandle, code: c_int) -> Result<()> {
    raise::call_of_file(file.0, code)
}
