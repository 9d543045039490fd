//! Control variables.

use super::{load, store};
use crate::argument::{Out, TCvarGetInfoArguments, Text};
use crate::error::Result;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use heddle_tool::{self as tool, Control, Type};
use std::ffi::{c_char, c_int, c_void};

pub(crate) fn t_cvar_get_num(num_cvar: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_cvar.set(tool::controls().len() as c_int)
}

pub(crate) fn t_cvar_get_index(name: Text<'_>, cvar_index: Out<c_int>) -> Result<()> {
    tool::check()?;
    let name = name.get()?;
    cvar_index.set(tool::index_of(tool::controls(), name, |control| control.name == name)?)
}

pub(crate) fn t_cvar_get_info(call: TCvarGetInfoArguments) -> Result<()> {
    tool::check()?;
    let control = tool::at(tool::controls(), call.cvar_index)?;
    call.name.offer(&control.name, call.name_len);
    call.verbosity.offer(control.verbosity());
    call.datatype.offer(DatatypeHandle(control.kind.datatype()));
    let has_items = control.kind == Type::Item;
    call.enumtype.offer(if has_items {
        super::enumeration::handle(call.cvar_index)
    } else {
        mpi::MPI_T_ENUM_NULL
    });
    call.desc.offer(&control.meaning, call.desc_len);
    call.bind.offer(mpi::MPI_T_BIND_NO_OBJECT);
    call.scope.offer(control.scope());
    Ok(())
}

pub(crate) fn t_cvar_handle_alloc(
    cvar_index: c_int,
    _obj_handle: *mut c_void,
    handle: Out<usize>,
    count: Out<c_int>,
) -> Result<()> {
    let variable = handle.variable()?;
    let count = count.variable()?;
    let (number, control) = tool::allocate_control(cvar_index)?;
    *variable = number;
    *count = control.count() as c_int;
    Ok(())
}

pub(crate) fn t_cvar_handle_free(handle: Out<usize>) -> Result<()> {
    let variable = handle.variable()?;
    tool::free_control(*variable)?;
    *variable = mpi::MPI_T_CVAR_HANDLE_NULL;
    Ok(())
}

pub(crate) fn t_cvar_read(handle: usize, buf: *mut c_void) -> Result<()> {
    let value = tool::control_of(handle)?.read()?;
    store(&value, buf)
}

pub(crate) fn t_cvar_write(handle: usize, buf: *const c_void) -> Result<()> {
    let control = tool::control_of(handle)?;
    let bytes = length(control, buf);
    // SAFETY: the program promises a value of the variable's type; text is read only up to its end.
    control.write(unsafe { load(buf, bytes) }?)
}

/// The bytes of a value that the program gives. Text may be shorter than the variable.
fn length(control: &Control, buf: *const c_void) -> usize {
    let most = control.count() * control.kind.bytes();
    if control.kind != Type::Text || buf.is_null() {
        return most;
    }
    // SAFETY: the read ends at the end of the text or of the variable.
    unsafe { libc::strnlen(buf.cast::<c_char>(), most) }
}
