//! Accumulates.

use super::with_request;
use crate::argument::{
    AccumulateArguments, CompareAndSwapArguments, FetchAndOpArguments, GetAccumulateArguments, Out, buffer,
};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_datatype::Datatype;
use heddle_p2p::{Attempt, Refusal};
use heddle_rma::{Far, PlainIntegers, WinRef};
use heddle_spec::handle::{DatatypeHandle, RequestHandle, WinHandle};
use std::ffi::c_int;

/// Combines the origin's data with the target's; `result` receives the target's data before.
fn combine(call: AccumulateArguments, result: Option<(&Datatype, &Buffer)>) -> Result<()> {
    let win = WinRef::from_handle(call.win.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let origin = || unsafe { buffer(call.origin_addr, call.origin_count, call.origin_datatype) };
    let far = Far {
        rank: call.target_rank,
        disp: call.target_disp,
        count: call.target_count,
        datatype: call.target_datatype.0,
    };
    heddle_rma::accumulate(&win, call.op.0, origin, result, &far)
}

#[inline(always)]
pub(crate) fn express_accumulate(_: Attempt, call: AccumulateArguments) -> Express {
    if call.origin_count != call.target_count || call.origin_datatype != call.target_datatype {
        return Err(Refusal::Unfit);
    }
    let far = PlainIntegers {
        rank: call.target_rank,
        disp: call.target_disp,
        count: call.origin_count,
        datatype: call.origin_datatype.0,
        win: call.win.0,
    };
    // SAFETY: the program promises that the operands are there.
    unsafe { far.accumulate(call.op.0, call.origin_addr.cast()) }.map(Ok)
}

pub(crate) fn accumulate(call: AccumulateArguments) -> Result<()> {
    combine(call, None)
}

pub(crate) fn raccumulate(call: AccumulateArguments, request: Out<RequestHandle>) -> Result<()> {
    with_request(request, call.win, call.target_rank, || accumulate(call))
}

pub(crate) fn get_accumulate(call: GetAccumulateArguments) -> Result<()> {
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (datatype, result) = unsafe { buffer(call.result_addr, call.result_count, call.result_datatype) }?;
    let accumulate = AccumulateArguments {
        origin_addr: call.origin_addr,
        origin_count: call.origin_count,
        origin_datatype: call.origin_datatype,
        target_rank: call.target_rank,
        target_disp: call.target_disp,
        target_count: call.target_count,
        target_datatype: call.target_datatype,
        op: call.op,
        win: call.win,
    };
    combine(accumulate, Some((&datatype, &result)))
}

pub(crate) fn rget_accumulate(call: GetAccumulateArguments, request: Out<RequestHandle>) -> Result<()> {
    with_request(request, call.win, call.target_rank, || get_accumulate(call))
}

/// The one element at the target of an operation that has no counts.
#[inline(always)]
fn element(rank: c_int, disp: i64, datatype: DatatypeHandle, win: WinHandle) -> PlainIntegers {
    PlainIntegers { rank, disp, count: 1, datatype: datatype.0, win: win.0 }
}

#[inline(always)]
pub(crate) fn express_fetch_and_op(_: Attempt, call: FetchAndOpArguments) -> Express {
    let far = element(call.target_rank, call.target_disp, call.datatype, call.win);
    // SAFETY: the program promises that the operand and room for the result are there.
    unsafe { far.fetch_and_op(call.op.0, call.origin_addr.cast(), call.result_addr.cast()) }.map(Ok)
}

pub(crate) fn fetch_and_op(call: FetchAndOpArguments) -> Result<()> {
    heddle_rma::check_predefined(call.datatype.0)?;
    get_accumulate(GetAccumulateArguments {
        origin_addr: call.origin_addr,
        origin_count: 1,
        origin_datatype: call.datatype,
        result_addr: call.result_addr,
        result_count: 1,
        result_datatype: call.datatype,
        target_rank: call.target_rank,
        target_disp: call.target_disp,
        target_count: 1,
        target_datatype: call.datatype,
        op: call.op,
        win: call.win,
    })
}

#[inline(always)]
pub(crate) fn express_compare_and_swap(_: Attempt, call: CompareAndSwapArguments) -> Express {
    let far = element(call.target_rank, call.target_disp, call.datatype, call.win);
    let (origin, compared) = (call.origin_addr.cast(), call.compare_addr.cast());
    // SAFETY: the program promises that both values and room for the result are there.
    unsafe { far.compare_and_swap(origin, compared, call.result_addr.cast()) }.map(Ok)
}

pub(crate) fn compare_and_swap(call: CompareAndSwapArguments) -> Result<()> {
    let CompareAndSwapArguments { origin_addr, compare_addr, result_addr, datatype, .. } = call;
    let win = WinRef::from_handle(call.win.0)?;
    for address in [origin_addr, compare_addr, result_addr] {
        // SAFETY: the program leaves the memory alone until the operation is complete.
        unsafe { buffer(address, 1, datatype) }?;
    }
    let far = Far { rank: call.target_rank, disp: call.target_disp, count: 1, datatype: datatype.0 };
    // SAFETY: the program promises an element at each address.
    unsafe {
        heddle_rma::compare_and_swap(&win, origin_addr.cast(), compare_addr.cast(), result_addr.cast(), &far)
    }
}
