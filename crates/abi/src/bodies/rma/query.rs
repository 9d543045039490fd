//! Questions about a window: group, shared memory, hints.

use crate::argument::{CountOut, Out};
use crate::error::{Error, Result};
use heddle_engine::window::WinRef;
use heddle_engine::{group, info};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{GroupHandle, InfoHandle, WinHandle};
use std::ffi::{c_int, c_void};

pub(crate) fn win_get_group(win: WinHandle, out: Out<GroupHandle>) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let out = out.variable()?;
    out.0 = group::new_handle(win.comm().group.clone());
    Ok(())
}

pub(crate) fn win_get_info(win: WinHandle, out: Out<InfoHandle>) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let out = out.variable()?;
    out.0 = info::new_handle(win.hints().entries());
    Ok(())
}

pub(crate) fn win_set_info(win: WinHandle, hints: InfoHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.take_hints(&info::hints(hints.0)?);
    Ok(())
}

/// For `MPI_PROC_NULL` the answer is that of the lowest rank with memory (MPI 5.0, section 12.2.3).
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
    let targets = win.window.targets();
    let target = match rank {
        mpi::MPI_PROC_NULL => targets.iter().find(|target| target.size() > 0).or(targets.first()),
        _ => Some(win.window.target(rank)?),
    };
    let shared = target.filter(|target| !win.window.is_dynamic() && !target.base().is_null());
    let Some(target) = shared else {
        let message = format!(
            "the memory of rank {rank} of the window is not shared with this process; MPI_Win_allocate_shared makes such windows"
        );
        return Err(Error::new(mpi::MPI_ERR_RMA_FLAVOR, message));
    };
    size.set(target.size() as i64)?;
    disp_unit.set(target.disp_unit() as i64)?;
    base.set(target.base().cast())
}
