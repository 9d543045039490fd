//! Accumulates.

#![expect(clippy::too_many_arguments, reason = "those of the functions")]

use super::with_request;
use crate::argument::{Out, buffer};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_datatype::Datatype;
use heddle_engine::window::{self, Far, PlainIntegers, WinRef};
use heddle_p2p::{Attempt, Refusal};
use heddle_spec::handle::{DatatypeHandle, OpHandle, RequestHandle, WinHandle};
use std::ffi::{c_int, c_void};

/// Combines the origin's data with the target's; `result` receives the target's data before.
fn combine(
    (origin, count, datatype): (*const c_void, i64, DatatypeHandle),
    result: Option<(&Datatype, &Buffer)>,
    far: &Far,
    op: OpHandle,
    win: WinHandle,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    window::accumulate(&win, op.0, || unsafe { buffer(origin, count, datatype) }, result, far)
}

#[inline(always)]
pub(crate) fn express_accumulate(
    _: Attempt,
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    op: OpHandle,
    win: WinHandle,
) -> Express {
    if count != far_count || datatype != far_datatype {
        return Err(Refusal::Unfit);
    }
    let far = PlainIntegers { rank, disp, count, datatype: datatype.0, win: win.0 };
    // SAFETY: the program promises that the operands are there.
    unsafe { far.accumulate(op.0, origin.cast()) }.map(Ok)
}

pub(crate) fn accumulate(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    op: OpHandle,
    win: WinHandle,
) -> Result<()> {
    let far = Far { rank, disp, count: far_count, datatype: far_datatype.0 };
    combine((origin, count, datatype), None, &far, op, win)
}

pub(crate) fn raccumulate(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    op: OpHandle,
    win: WinHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    with_request(request, win, rank, || {
        accumulate(origin, count, datatype, rank, disp, far_count, far_datatype, op, win)
    })
}

pub(crate) fn get_accumulate(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    result: *mut c_void,
    result_count: i64,
    result_datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    op: OpHandle,
    win: WinHandle,
) -> Result<()> {
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (result_type, result) = unsafe { buffer(result, result_count, result_datatype) }?;
    let far = Far { rank, disp, count: far_count, datatype: far_datatype.0 };
    combine((origin, count, datatype), Some((&result_type, &result)), &far, op, win)
}

pub(crate) fn rget_accumulate(
    origin: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    result: *mut c_void,
    result_count: i64,
    result_datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    far_count: i64,
    far_datatype: DatatypeHandle,
    op: OpHandle,
    win: WinHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    with_request(request, win, rank, || {
        get_accumulate(
            origin,
            count,
            datatype,
            result,
            result_count,
            result_datatype,
            rank,
            disp,
            far_count,
            far_datatype,
            op,
            win,
        )
    })
}

#[inline(always)]
pub(crate) fn express_fetch_and_op(
    _: Attempt,
    origin: *const c_void,
    result: *mut c_void,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    op: OpHandle,
    win: WinHandle,
) -> Express {
    let far = PlainIntegers { rank, disp, count: 1, datatype: datatype.0, win: win.0 };
    // SAFETY: the program promises that the operand and room for the result are there.
    unsafe { far.fetch_and_op(op.0, origin.cast(), result.cast()) }.map(Ok)
}

pub(crate) fn fetch_and_op(
    origin: *const c_void,
    result: *mut c_void,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    op: OpHandle,
    win: WinHandle,
) -> Result<()> {
    window::check_predefined(datatype.0)?;
    get_accumulate(origin, 1, datatype, result, 1, datatype, rank, disp, 1, datatype, op, win)
}

#[inline(always)]
pub(crate) fn express_compare_and_swap(
    _: Attempt,
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    win: WinHandle,
) -> Express {
    let far = PlainIntegers { rank, disp, count: 1, datatype: datatype.0, win: win.0 };
    // SAFETY: the program promises that both values and room for the result are there.
    unsafe { far.compare_and_swap(origin.cast(), compare.cast(), result.cast()) }.map(Ok)
}

pub(crate) fn compare_and_swap(
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: DatatypeHandle,
    rank: c_int,
    disp: i64,
    win: WinHandle,
) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    for address in [origin, compare, result] {
        // SAFETY: the program leaves the memory alone until the operation is complete.
        unsafe { buffer(address, 1, datatype) }?;
    }
    let far = Far { rank, disp, count: 1, datatype: datatype.0 };
    // SAFETY: the program promises an element at each address.
    unsafe { window::compare_and_swap(&win, origin.cast(), compare.cast(), result.cast(), &far) }
}
