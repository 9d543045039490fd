//! Events and their sources. There are none yet, so every index and every handle is invalid.

use crate::argument::{Callback, ListOut, Out, Text, TextOut};
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{DatatypeHandle, InfoHandle};
use heddle_tool as tool;
use std::ffi::{c_int, c_void};

fn no_index(index: c_int) -> Result<()> {
    tool::check()?;
    tool::at::<()>(&[], index).copied()
}

fn no_handle(handle: usize) -> Result<()> {
    tool::check()?;
    Err(Error::new(
        mpi::MPI_T_ERR_INVALID_HANDLE,
        format!("{handle:#x} is no event and no registration of one"),
    ))
}

pub(crate) fn t_event_get_num(num_events: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_events.set(0)
}

pub(crate) fn t_event_get_index(name: Text<'_>, _event_index: Out<c_int>) -> Result<()> {
    tool::check()?;
    tool::index_of::<()>(&[], name.get()?, |()| false).map(drop)
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub(crate) fn t_event_get_info(
    event_index: c_int,
    _name: TextOut,
    _name_len: Out<c_int>,
    _verbosity: Out<c_int>,
    _array_of_datatypes: ListOut<'_, DatatypeHandle>,
    _array_of_displacements: ListOut<'_, i64>,
    _num_elements: Out<c_int>,
    _enumtype: Out<usize>,
    _info: Out<InfoHandle>,
    _desc: TextOut,
    _desc_len: Out<c_int>,
    _bind: Out<c_int>,
) -> Result<()> {
    no_index(event_index)
}

pub(crate) fn t_event_handle_alloc(
    event_index: c_int,
    _obj_handle: *mut c_void,
    _info: InfoHandle,
    _event_registration: Out<usize>,
) -> Result<()> {
    no_index(event_index)
}

pub(crate) fn t_event_handle_free(
    event_registration: usize,
    _user_data: *mut c_void,
    _free_cb_function: Callback,
) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_handle_get_info(event_registration: usize, _info_used: Out<InfoHandle>) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_handle_set_info(event_registration: usize, _info: InfoHandle) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_register_callback(
    event_registration: usize,
    _cb_safety: c_int,
    _info: InfoHandle,
    _user_data: *mut c_void,
    _event_cb_function: Callback,
) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_callback_get_info(
    event_registration: usize,
    _cb_safety: c_int,
    _info_used: Out<InfoHandle>,
) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_callback_set_info(
    event_registration: usize,
    _cb_safety: c_int,
    _info: InfoHandle,
) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_set_dropped_handler(
    event_registration: usize,
    _dropped_cb_function: Callback,
) -> Result<()> {
    no_handle(event_registration)
}

pub(crate) fn t_event_read(event_instance: usize, _element_index: c_int, _buffer: *mut c_void) -> Result<()> {
    no_handle(event_instance)
}

pub(crate) fn t_event_copy(event_instance: usize, _buffer: *mut c_void) -> Result<()> {
    no_handle(event_instance)
}

pub(crate) fn t_event_get_timestamp(event_instance: usize, _event_timestamp: Out<i64>) -> Result<()> {
    no_handle(event_instance)
}

pub(crate) fn t_event_get_source(event_instance: usize, _source_index: Out<c_int>) -> Result<()> {
    no_handle(event_instance)
}

pub(crate) fn t_source_get_num(num_sources: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_sources.set(0)
}

#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub(crate) fn t_source_get_info(
    source_index: c_int,
    _name: TextOut,
    _name_len: Out<c_int>,
    _desc: TextOut,
    _desc_len: Out<c_int>,
    _ordering: Out<c_int>,
    _ticks_per_second: Out<i64>,
    _max_ticks: Out<i64>,
    _info: Out<InfoHandle>,
) -> Result<()> {
    no_index(source_index)
}

pub(crate) fn t_source_get_timestamp(source_index: c_int, _timestamp: Out<i64>) -> Result<()> {
    no_index(source_index)
}
