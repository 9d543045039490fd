//! Put and get.

#![expect(clippy::too_many_arguments, reason = "those of the functions")]

use super::with_request;
use crate::argument::{Out, buffer};
use crate::entry::Express;
use crate::error::Result;
use heddle_engine::window::{self, Far, PlainCopy, WinRef};
use heddle_p2p::Attempt;
use heddle_spec::handle::{DatatypeHandle, RequestHandle, WinHandle};
use std::ffi::{c_int, c_void};

#[inline(always)]
fn plain(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
) -> PlainCopy {
    let address = origin.cast::<u8>().cast_mut();
    PlainCopy {
        address,
        count,
        datatype: datatype.0,
        rank,
        disp,
        far_count,
        far_datatype: far_datatype.0,
        win: win.0,
    }
}

#[inline(always)]
pub(crate) fn express_put(
    _: Attempt,
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
) -> Express {
    // SAFETY: the program promises that the data is there.
    unsafe { plain(origin, count, datatype, rank, disp, far_count, far_datatype, win).put() }.map(Ok)
}

pub(crate) fn put(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_datatype, origin) = unsafe { buffer(origin, count, datatype) }?;
    window::put(&win, &origin, &Far { rank, disp, count: far_count, datatype: far_datatype.0 })
}

pub(crate) fn rput(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    with_request(request, win, rank, || {
        put(origin, count, datatype, rank, disp, far_count, far_datatype, win)
    })
}

#[inline(always)]
pub(crate) fn express_get(
    _: Attempt,
    origin: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
) -> Express {
    // SAFETY: the program promises that there is room.
    unsafe { plain(origin, count, datatype, rank, disp, far_count, far_datatype, win).get() }.map(Ok)
}

pub(crate) fn get(
    origin: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_datatype, origin) = unsafe { buffer(origin, count, datatype) }?;
    window::get(&win, &origin, &Far { rank, disp, count: far_count, datatype: far_datatype.0 })
}

pub(crate) fn rget(
    origin: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    win: WinHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    with_request(request, win, rank, || {
        get(origin, count, datatype, rank, disp, far_count, far_datatype, win)
    })
}
