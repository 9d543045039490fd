//! Events, their registrations and their source.

use super::{invalid, store};
use crate::argument::{Callback, Out, TEventGetInfoArguments, TSourceGetInfoArguments, Text};
use crate::error::Result;
use heddle_comm::info;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{DatatypeHandle, InfoHandle};
use heddle_tool::{self as tool, CallbackState, EVENTS, Instance};
use std::ffi::{c_int, c_void};

/// The key of an event's info whose value names its elements.
const ELEMENTS: &str = "heddle_elements";

pub(crate) fn t_event_get_num(num_events: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_events.set(EVENTS.len() as c_int)
}

pub(crate) fn t_event_get_index(name: Text<'_>, event_index: Out<c_int>) -> Result<()> {
    tool::check()?;
    let name = name.get()?;
    event_index.set(tool::index_of(&EVENTS, name, |event| event.name == name)?)
}

/// `num_elements` holds the length of both arrays and receives the number of elements.
pub(crate) fn t_event_get_info(call: TEventGetInfoArguments<'_>) -> Result<()> {
    tool::check()?;
    let event = tool::at(&EVENTS, call.event_index)?;
    if let Some(length) = call.num_elements.given() {
        let length = usize::try_from(length).map_err(|_| invalid("the length of an array is negative"))?;
        let length = length.min(event.elements.len());
        if !call.array_of_datatypes.is_at(0) {
            let types = event.elements.iter().map(|(_, kind)| DatatypeHandle(kind.datatype()));
            call.array_of_datatypes.slice(length)?.iter_mut().zip(types).for_each(|(to, kind)| *to = kind);
        }
        if !call.array_of_displacements.is_at(0) {
            let displacements = call.array_of_displacements.slice(length)?.iter_mut();
            displacements.zip(event.displacements()).for_each(|(to, at)| *to = at as i64);
        }
        call.num_elements.offer(event.elements.len() as c_int);
    }
    call.name.offer(event.name, call.name_len);
    call.verbosity.offer(event.verbosity);
    call.enumtype.offer(mpi::MPI_T_ENUM_NULL);
    if let Ok(info) = call.info.variable() {
        *info = InfoHandle(info::new_handle(vec![(ELEMENTS.to_owned(), event.element_names())]));
    }
    call.desc.offer(event.meaning, call.desc_len);
    call.bind.offer(mpi::MPI_T_BIND_NO_OBJECT);
    Ok(())
}

/// Checks an info object with hints; none is known.
fn ignore_hints(info: InfoHandle) -> Result<()> {
    info::hints(info.0).map(drop)
}

pub(crate) fn t_event_handle_alloc(
    event_index: c_int,
    _obj_handle: *mut c_void,
    info: InfoHandle,
    event_registration: Out<usize>,
) -> Result<()> {
    tool::check()?;
    let variable = event_registration.variable()?;
    ignore_hints(info)?;
    *variable = tool::allocate_event(event_index)?;
    Ok(())
}

pub(crate) fn t_event_handle_free(
    event_registration: usize,
    user_data: *mut c_void,
    free_cb_function: Callback,
) -> Result<()> {
    // SAFETY: the parameter's type in `mpi.h` is that of `FreeFunction`.
    let function = unsafe { free_cb_function.pointer() }.ok();
    tool::free_event(event_registration, function.map(|function| (function, CallbackState(user_data))))
}

pub(crate) fn t_event_handle_get_info(event_registration: usize, info_used: Out<InfoHandle>) -> Result<()> {
    tool::check_event(event_registration)?;
    *info_used.variable()? = InfoHandle(info::new_handle(Vec::new()));
    Ok(())
}

pub(crate) fn t_event_handle_set_info(event_registration: usize, info: InfoHandle) -> Result<()> {
    tool::check_event(event_registration)?;
    ignore_hints(info)
}

/// A null pointer instead of a function removes the callback.
pub(crate) fn t_event_register_callback(
    event_registration: usize,
    cb_safety: c_int,
    info: InfoHandle,
    user_data: *mut c_void,
    event_cb_function: Callback,
) -> Result<()> {
    tool::check_event(event_registration)?;
    ignore_hints(info)?;
    // SAFETY: the parameter's type in `mpi.h` is that of `EventFunction`.
    let function = unsafe { event_cb_function.pointer() }.ok();
    tool::set_event_callback(event_registration, cb_safety, function, CallbackState(user_data))
}

pub(crate) fn t_event_callback_get_info(
    event_registration: usize,
    cb_safety: c_int,
    info_used: Out<InfoHandle>,
) -> Result<()> {
    tool::check_event_callback(event_registration, cb_safety)?;
    *info_used.variable()? = InfoHandle(info::new_handle(Vec::new()));
    Ok(())
}

pub(crate) fn t_event_callback_set_info(
    event_registration: usize,
    cb_safety: c_int,
    info: InfoHandle,
) -> Result<()> {
    tool::check_event_callback(event_registration, cb_safety)?;
    ignore_hints(info)
}

/// A null pointer instead of a function removes the handler.
pub(crate) fn t_event_set_dropped_handler(
    event_registration: usize,
    dropped_cb_function: Callback,
) -> Result<()> {
    // SAFETY: the parameter's type in `mpi.h` is that of `DroppedFunction`.
    let function = unsafe { dropped_cb_function.pointer() }.ok();
    tool::set_dropped_handler(event_registration, function)
}

pub(crate) fn t_event_read(event_instance: usize, element_index: c_int, buffer: *mut c_void) -> Result<()> {
    store(&Instance::of(event_instance)?.element(element_index)?, buffer)
}

pub(crate) fn t_event_copy(event_instance: usize, buffer: *mut c_void) -> Result<()> {
    store(&Instance::of(event_instance)?.elements()?, buffer)
}

pub(crate) fn t_event_get_timestamp(event_instance: usize, event_timestamp: Out<i64>) -> Result<()> {
    event_timestamp.set(Instance::of(event_instance)?.time())
}

pub(crate) fn t_event_get_source(event_instance: usize, source_index: Out<c_int>) -> Result<()> {
    Instance::of(event_instance)?;
    source_index.set(SOURCE)
}

/// The index of the one source.
const SOURCE: c_int = 0;

fn check_source(source_index: c_int) -> Result<()> {
    tool::check()?;
    tool::at(&[()], source_index).copied()
}

pub(crate) fn t_source_get_num(num_sources: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_sources.set(1)
}

/// Threads tell of their events at once, so the source has no order.
pub(crate) fn t_source_get_info(call: TSourceGetInfoArguments) -> Result<()> {
    check_source(call.source_index)?;
    call.name.offer(tool::SOURCE_NAME, call.name_len);
    call.desc.offer(tool::SOURCE_MEANING, call.desc_len);
    call.ordering.offer(mpi::MPI_T_SOURCE_UNORDERED);
    call.ticks_per_second.offer(tool::TICKS_PER_SECOND);
    call.max_ticks.offer(i64::MAX);
    if let Ok(info) = call.info.variable() {
        *info = InfoHandle(info::new_handle(Vec::new()));
    }
    Ok(())
}

pub(crate) fn t_source_get_timestamp(source_index: c_int, timestamp: Out<i64>) -> Result<()> {
    check_source(source_index)?;
    timestamp.set(tool::timestamp())
}
