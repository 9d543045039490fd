//! Questions about a window: group, shared memory, hints.

use crate::argument::{CountOut, Out};
use crate::error::{Error, Result};
use heddle_comm::{group, info};
use heddle_rma::WinRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{GroupHandle, InfoHandle, WinHandle};
use std::ffi::{c_int, c_void};
use std::ptr;

pub(crate) fn win_get_group(win: WinHandle, out: Out<GroupHandle>) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let out = out.variable()?;
    out.0 = group::new_handle(win.comm().group.clone());
    Ok(())
}

pub(crate) fn win_get_info(win: WinHandle, out: Out<InfoHandle>) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let out = out.variable()?;
    out.0 = info::new_handle(win.hints());
    Ok(())
}

pub(crate) fn win_set_info(win: WinHandle, hints: InfoHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.take_hints(&info::hints(hints.0)?);
    Ok(())
}

/// For `MPI_PROC_NULL` the answer is that of the lowest rank with memory. Memory that this process cannot
/// reach has no bytes (MPI 5.0, section 12.2.3), and what has no bytes has no address, as in other libraries.
pub(crate) fn win_shared_query(
    win: WinHandle,
    rank: c_int,
    size: Out<i64>,
    disp_unit: CountOut,
    baseptr: *mut c_void,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    // SAFETY: the program passes the address of a pointer.
    let base = unsafe { Out::<*mut c_void>::new(baseptr.cast()) };
    if win.window.is_dynamic() {
        let message = "the memory of a dynamic window cannot be queried; MPI_Win_allocate_shared makes windows of shared memory";
        return Err(Error::new(mpi::MPI_ERR_RMA_FLAVOR, message));
    }
    let target = match rank {
        mpi::MPI_PROC_NULL => {
            let mut reachable = win.window.targets().iter().filter(|target| !target.base().is_null());
            reachable.find(|target| target.size() > 0)
        }
        _ => Some(win.window.target(rank)?),
    };
    let own = &win.window.targets()[win.window.rank()];
    let (size_there, unit, address) = match target {
        Some(target) if target.base().is_null() || target.size() == 0 => {
            (0, target.disp_unit(), ptr::null_mut())
        }
        Some(target) => (target.size(), target.disp_unit(), target.base()),
        None => (0, own.disp_unit(), own.base()),
    };
    size.set(size_there as i64)?;
    disp_unit.set(unit as i64)?;
    base.set(address.cast())
}
