//! Attributes of communicators, datatypes and windows.

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::attribute::{self, AttributeCarrier, Predefined};
use heddle_comm::datatype;
use heddle_rma::WinRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, WinHandle};
use std::ffi::{c_int, c_void};

/// Passes the value of an attribute to the program, if there is one; `to` receives its address.
fn store(value: Option<usize>, to: *mut c_void, flag: Out<c_int>) -> Result<()> {
    if let Some(value) = value {
        if to.is_null() {
            let message =
                "the value of an attribute is to go to a null pointer; pass the address of a pointer";
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
        let value = std::ptr::with_exposed_provenance_mut::<c_void>(value);
        // SAFETY: the program promises room for an address there.
        unsafe { to.cast::<*mut c_void>().write_unaligned(value) };
    }
    flag.set(c_int::from(value.is_some()))
}

pub(crate) fn comm_get_attr(
    comm: CommHandle,
    keyval: c_int,
    value: *mut c_void,
    flag: Out<c_int>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let found = match attribute::of_communicator(keyval) {
        Predefined::Value(address) => Some(address),
        Predefined::Absent => None,
        Predefined::Unknown => comm.attributes.get(AttributeCarrier::Comm, keyval)?,
    };
    store(found, value, flag)
}

pub(crate) fn comm_set_attr(comm: CommHandle, keyval: c_int, value: *mut c_void) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    comm.attributes.set(AttributeCarrier::Comm, comm.handle(), keyval, value.expose_provenance())
}

pub(crate) fn comm_delete_attr(comm: CommHandle, keyval: c_int) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    comm.attributes.delete(AttributeCarrier::Comm, comm.handle(), keyval)
}

pub(crate) fn attr_get(comm: CommHandle, keyval: c_int, value: *mut c_void, flag: Out<c_int>) -> Result<()> {
    comm_get_attr(comm, keyval, value, flag)
}

pub(crate) fn attr_put(comm: CommHandle, keyval: c_int, value: *mut c_void) -> Result<()> {
    comm_set_attr(comm, keyval, value)
}

pub(crate) fn attr_delete(comm: CommHandle, keyval: c_int) -> Result<()> {
    comm_delete_attr(comm, keyval)
}

pub(crate) fn type_get_attr(
    datatype: DatatypeHandle,
    keyval: c_int,
    value: *mut c_void,
    flag: Out<c_int>,
) -> Result<()> {
    store(datatype::of_type(datatype.0)?.get(AttributeCarrier::Type, keyval)?, value, flag)
}

pub(crate) fn type_set_attr(datatype: DatatypeHandle, keyval: c_int, value: *mut c_void) -> Result<()> {
    datatype::of_type(datatype.0)?.set(AttributeCarrier::Type, datatype.0, keyval, value.expose_provenance())
}

pub(crate) fn type_delete_attr(datatype: DatatypeHandle, keyval: c_int) -> Result<()> {
    datatype::of_type(datatype.0)?.delete(AttributeCarrier::Type, datatype.0, keyval)
}

pub(crate) fn win_get_attr(
    win: WinHandle,
    keyval: c_int,
    value: *mut c_void,
    flag: Out<c_int>,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let found = match win.predefined(keyval) {
        Predefined::Value(address) => Some(address),
        Predefined::Absent => None,
        Predefined::Unknown => win.attributes.get(AttributeCarrier::Win, keyval)?,
    };
    store(found, value, flag)
}

pub(crate) fn win_set_attr(win: WinHandle, keyval: c_int, value: *mut c_void) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    win.attributes.set(AttributeCarrier::Win, win.handle(), keyval, value.expose_provenance())
}

pub(crate) fn win_delete_attr(win: WinHandle, keyval: c_int) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    win.attributes.delete(AttributeCarrier::Win, win.handle(), keyval)
}
