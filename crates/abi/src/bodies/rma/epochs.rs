//! Fence, post, start, complete, wait; lock, unlock, flush.

use crate::argument::Out;
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::group;
use heddle_p2p::Attempt;
use heddle_rma::{WinRef, flush_express};
use heddle_spec::handle::{GroupHandle, WinHandle};
use std::ffi::c_int;

pub(crate) fn win_fence(assertions: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.fence(assertions)
}

pub(crate) fn win_post(members: GroupHandle, assertions: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.post(&*group::from_handle(members.0)?, assertions)
}

pub(crate) fn win_start(members: GroupHandle, assertions: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.start(&*group::from_handle(members.0)?, assertions)
}

pub(crate) fn win_complete(win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.window.complete()
}

pub(crate) fn win_wait(win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.window.wait_exposure()
}

pub(crate) fn win_test(win: WinHandle, flag: Out<c_int>) -> Result<()> {
    let flag = flag.variable()?;
    *flag = c_int::from(WinRef::from_handle(win.0)?.window.test_exposure()?);
    Ok(())
}

pub(crate) fn win_lock(kind: c_int, rank: c_int, assertions: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.lock(kind, rank, assertions)
}

pub(crate) fn win_unlock(rank: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.unlock(rank)
}

pub(crate) fn win_lock_all(assertions: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.lock_all(assertions)
}

pub(crate) fn win_unlock_all(win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.window.unlock_all()
}

#[inline(always)]
pub(crate) fn express_win_flush(_: Attempt, rank: c_int, win: WinHandle) -> Express {
    flush_express(rank, win.0).map(Ok)
}

pub(crate) fn win_flush(rank: c_int, win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.flush(rank)
}

pub(crate) fn win_flush_all(win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.window.flush_all()
}

#[inline(always)]
pub(crate) fn express_win_flush_local(attempt: Attempt, rank: c_int, win: WinHandle) -> Express {
    express_win_flush(attempt, rank, win)
}

/// An operation is complete at both sides when it returns, so the origin alone is no less.
pub(crate) fn win_flush_local(rank: c_int, win: WinHandle) -> Result<()> {
    win_flush(rank, win)
}

pub(crate) fn win_flush_local_all(win: WinHandle) -> Result<()> {
    win_flush_all(win)
}

pub(crate) fn win_sync(win: WinHandle) -> Result<()> {
    WinRef::from_handle(win.0)?.window.sync();
    Ok(())
}
