//! Making and freeing windows, attaching memory.

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::info;
use heddle_rma::{Hints, Memory, WinRef};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, InfoHandle, WinHandle};
use std::ffi::c_void;

/// Makes a window. Returns where this process's memory begins. `room` says whether there is a
/// variable for that. An argument that is wrong in this process alone is an error in all, as long as
/// the communicator is there.
fn make(
    memory: Memory,
    info: InfoHandle,
    comm: CommHandle,
    win: Out<WinHandle>,
    room: Result<()>,
) -> Result<*mut u8> {
    let comm = CommRef::from_handle(comm.0)?;
    let variable = win.variable();
    let wanted = room.and_then(|()| variable.as_ref().map(drop).map_err(Error::clone));
    let hints = wanted.and_then(|()| Ok(Hints::new(&info::hints(info.0)?, heddle_rma::default_lock())));
    let (handle, base) = heddle_rma::create(&comm, memory, hints)?;
    variable?.0 = handle;
    Ok(base)
}

/// Makes a window with memory of its own, whose address `baseptr` receives: it is a pointer to a pointer.
fn make_memory(
    memory: Memory,
    info: InfoHandle,
    comm: CommHandle,
    baseptr: *mut c_void,
    win: Out<WinHandle>,
) -> Result<()> {
    let variable = address_variable(baseptr);
    let base = make(memory, info, comm, win, variable.as_ref().map(drop).map_err(Error::clone))?;
    *variable? = base.cast();
    Ok(())
}

/// The variable that receives the address of new memory: `baseptr` is a pointer to a pointer.
fn address_variable<'a>(baseptr: *mut c_void) -> Result<&'a mut *mut c_void> {
    // SAFETY: the program passes the address of a pointer.
    unsafe { Out::<*mut c_void>::new(baseptr.cast()) }.variable()
}

pub(crate) fn win_create(
    base: *mut c_void,
    size: i64,
    disp_unit: i64,
    info: InfoHandle,
    comm: CommHandle,
    win: Out<WinHandle>,
) -> Result<()> {
    make(Memory::Exposed { base: base.cast(), size, disp_unit }, info, comm, win, Ok(())).map(drop)
}

pub(crate) fn win_allocate(
    size: i64,
    disp_unit: i64,
    info: InfoHandle,
    comm: CommHandle,
    baseptr: *mut c_void,
    win: Out<WinHandle>,
) -> Result<()> {
    make_memory(Memory::Allocated { size, disp_unit }, info, comm, baseptr, win)
}

pub(crate) fn win_allocate_shared(
    size: i64,
    disp_unit: i64,
    info: InfoHandle,
    comm: CommHandle,
    baseptr: *mut c_void,
    win: Out<WinHandle>,
) -> Result<()> {
    make_memory(Memory::Shared { size, disp_unit }, info, comm, baseptr, win)
}

pub(crate) fn win_create_dynamic(info: InfoHandle, comm: CommHandle, win: Out<WinHandle>) -> Result<()> {
    make(Memory::Dynamic, info, comm, win, Ok(())).map(drop)
}

pub(crate) fn win_free(win: Out<WinHandle>) -> Result<()> {
    let win = win.variable()?;
    heddle_rma::free(win.0)?;
    *win = WinHandle::NULL;
    Ok(())
}

pub(crate) fn win_attach(win: WinHandle, base: *mut c_void, size: i64) -> Result<()> {
    let len = u64::try_from(size).map_err(|_| {
        Error::new(mpi::MPI_ERR_SIZE, format!("the size of the memory is {size}, but it may not be negative"))
    })?;
    WinRef::from_handle(win.0)?.window.attach(base.expose_provenance() as u64, len)
}

pub(crate) fn win_detach(win: WinHandle, base: *const c_void) -> Result<()> {
    WinRef::from_handle(win.0)?.window.detach(base.addr() as u64)
}
