//! Info objects.

use crate::argument::{Out, Text, TextOut};
use crate::error::{Error, Result};
use heddle_comm::info;
use heddle_spec::constants as mpi;
use heddle_spec::handle::InfoHandle;
use std::ffi::{CStr, c_char, c_int};

pub(crate) fn info_create(new: Out<InfoHandle>) -> Result<()> {
    let new = new.variable()?;
    *new = InfoHandle(info::new_handle(Vec::new()));
    Ok(())
}

/// The environment's info, with the program's name and arguments if the program passes them.
pub(crate) fn info_create_env(argc: c_int, argv: *mut *mut c_char, new: Out<InfoHandle>) -> Result<()> {
    let new = new.variable()?;
    let mut arguments = Vec::new();
    if !argv.is_null() {
        for number in 0..usize::try_from(argc).unwrap_or(0) {
            // SAFETY: the program promises `argc` strings.
            let argument = unsafe { argv.add(number) };
            // SAFETY: the program promises `argc` pointers, and `number` is below that.
            let text = unsafe { argument.read() };
            if text.is_null() {
                break;
            }
            // SAFETY: the program promises strings that end with NUL.
            arguments.push(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        }
    }
    *new = InfoHandle(info::new_handle(info::environment_with(&arguments)));
    Ok(())
}

pub(crate) fn info_dup(info: InfoHandle, new: Out<InfoHandle>) -> Result<()> {
    let entries = info::from_handle(info.0)?.entries();
    let new = new.variable()?;
    *new = InfoHandle(info::new_handle(entries));
    Ok(())
}

pub(crate) fn info_free(info: Out<InfoHandle>) -> Result<()> {
    let info = info.variable()?;
    info::free(info.0)?;
    *info = InfoHandle::NULL;
    Ok(())
}

/// A string that is not valid fails with the class that the standard has for the parameter.
fn text(text: Text<'_>, class: i32) -> Result<&str> {
    text.get().map_err(|error| Error::new(class, error.message()))
}

fn key(key: Text<'_>) -> Result<&str> {
    text(key, mpi::MPI_ERR_INFO_KEY)
}

pub(crate) fn info_set(info: InfoHandle, name: Text<'_>, value: Text<'_>) -> Result<()> {
    info::from_handle(info.0)?.set(key(name)?, text(value, mpi::MPI_ERR_INFO_VALUE)?)
}

pub(crate) fn info_delete(info: InfoHandle, name: Text<'_>) -> Result<()> {
    info::from_handle(info.0)?.delete(key(name)?)
}

pub(crate) fn info_get_nkeys(info: InfoHandle, count: Out<c_int>) -> Result<()> {
    count.set(info::from_handle(info.0)?.len() as c_int)
}

pub(crate) fn info_get_nthkey(info: InfoHandle, number: c_int, name: TextOut) -> Result<()> {
    name.set(&info::from_handle(info.0)?.key(number)?, mpi::MPI_MAX_INFO_KEY).map(drop)
}

/// `length` does not count the end mark; the array has room for it.
pub(crate) fn info_get(
    info: InfoHandle,
    name: Text<'_>,
    length: c_int,
    value: TextOut,
    flag: Out<c_int>,
) -> Result<()> {
    let found = info::from_handle(info.0)?.get(key(name)?)?;
    if length < 0 {
        let message = format!("the length of the value's buffer is {length}; it cannot be negative");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    if let Some(found) = &found {
        value.set(found, length.saturating_add(1))?;
    }
    flag.set(c_int::from(found.is_some()))
}

/// `length` counts the end mark on input and on output.
pub(crate) fn info_get_string(
    info: InfoHandle,
    name: Text<'_>,
    length: Out<c_int>,
    value: TextOut,
    flag: Out<c_int>,
) -> Result<()> {
    let found = info::from_handle(info.0)?.get(key(name)?)?;
    if let Some(found) = &found {
        let room = length.get()?;
        if room > 0 {
            value.set(found, room)?;
        }
        length.set(found.len() as c_int + 1)?;
    }
    flag.set(c_int::from(found.is_some()))
}

pub(crate) fn info_get_valuelen(
    info: InfoHandle,
    name: Text<'_>,
    length: Out<c_int>,
    flag: Out<c_int>,
) -> Result<()> {
    let found = info::from_handle(info.0)?.get(key(name)?)?;
    if let Some(found) = &found {
        length.set(found.len() as c_int)?;
    }
    flag.set(c_int::from(found.is_some()))
}
