//! Performance variables.

use super::{load, store};
use crate::argument::{Out, TPvarGetInfoArguments, Text};
use crate::error::Result;
use heddle_spec::constants as mpi;
use heddle_spec::handle::DatatypeHandle;
use heddle_tool::{self as tool, HandleOperation};
use std::ffi::{c_int, c_void};

pub(crate) fn t_pvar_get_num(num_pvar: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_pvar.set(tool::performances().len() as c_int)
}

pub(crate) fn t_pvar_get_index(name: Text<'_>, var_class: c_int, pvar_index: Out<c_int>) -> Result<()> {
    tool::check()?;
    let name = name.get()?;
    let all = tool::performances();
    pvar_index.set(tool::index_of(all, name, |it| it.name == name && it.class.number() == var_class)?)
}

pub(crate) fn t_pvar_get_info(call: TPvarGetInfoArguments) -> Result<()> {
    tool::check()?;
    let variable = tool::at(tool::performances(), call.pvar_index)?;
    let relative = variable.class.is_relative();
    call.name.offer(&variable.name, call.name_len);
    call.verbosity.offer(variable.verbosity);
    call.var_class.offer(variable.class.number());
    call.datatype.offer(DatatypeHandle(variable.kind().datatype()));
    call.enumtype.offer(mpi::MPI_T_ENUM_NULL);
    call.desc.offer(&variable.meaning, call.desc_len);
    call.bind.offer(mpi::MPI_T_BIND_NO_OBJECT);
    call.readonly.offer(c_int::from(!relative));
    call.continuous.offer(c_int::from(!relative));
    call.atomic.offer(c_int::from(relative));
    Ok(())
}

pub(crate) fn t_pvar_session_create(session: Out<usize>) -> Result<()> {
    let variable = session.variable()?;
    *variable = tool::create_session()?;
    Ok(())
}

pub(crate) fn t_pvar_session_free(session: Out<usize>) -> Result<()> {
    let variable = session.variable()?;
    tool::free_session(*variable)?;
    *variable = mpi::MPI_T_PVAR_SESSION_NULL;
    Ok(())
}

pub(crate) fn t_pvar_handle_alloc(
    session: usize,
    pvar_index: c_int,
    _obj_handle: *mut c_void,
    handle: Out<usize>,
    count: Out<c_int>,
) -> Result<()> {
    let handle = handle.variable()?;
    let count = count.variable()?;
    let (number, variable) = tool::allocate_performance(session, pvar_index)?;
    *handle = number;
    *count = variable.count as c_int;
    Ok(())
}

pub(crate) fn t_pvar_handle_free(session: usize, handle: Out<usize>) -> Result<()> {
    let variable = handle.variable()?;
    tool::free_performance(session, *variable)?;
    *variable = mpi::MPI_T_PVAR_HANDLE_NULL;
    Ok(())
}

pub(crate) fn t_pvar_start(session: usize, handle: usize) -> Result<()> {
    tool::operate(session, handle, HandleOperation::Start)
}

pub(crate) fn t_pvar_stop(session: usize, handle: usize) -> Result<()> {
    tool::operate(session, handle, HandleOperation::Stop)
}

pub(crate) fn t_pvar_reset(session: usize, handle: usize) -> Result<()> {
    tool::operate(session, handle, HandleOperation::Reset)
}

pub(crate) fn t_pvar_read(session: usize, handle: usize, buf: *mut c_void) -> Result<()> {
    store(&tool::read(session, handle, false)?.to_bytes(), buf)
}

pub(crate) fn t_pvar_readreset(session: usize, handle: usize, buf: *mut c_void) -> Result<()> {
    if buf.is_null() {
        // A null pointer is an error before the value is reset.
        return store(&[], buf);
    }
    store(&tool::read(session, handle, true)?.to_bytes(), buf)
}

pub(crate) fn t_pvar_write(session: usize, handle: usize, buf: *const c_void) -> Result<()> {
    // SAFETY: the program promises the handle's count of elements, of the variable's type.
    tool::write(session, handle, |bytes| unsafe { load(buf, bytes) })
}
