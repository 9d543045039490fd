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

/// The elements at the target, if they are as those at the origin.
#[inline(always)]
fn equal_elements(call: &AccumulateArguments) -> std::result::Result<PlainIntegers, Refusal> {
    if call.origin_count != call.target_count || call.origin_datatype != call.target_datatype {
        return Err(Refusal::Unfit);
    }
    Ok(PlainIntegers {
        rank: call.target_rank,
        disp: call.target_disp,
        count: call.origin_count,
        datatype: call.origin_datatype.0,
        win: call.win.0,
    })
}

#[inline(always)]
pub(crate) fn express_accumulate(attempt: Attempt, call: AccumulateArguments) -> Express {
    let (far, op, origin) = (equal_elements(&call)?, call.op.0, call.origin_addr.cast());
    match attempt {
        // SAFETY: the program promises that the operands are there.
        Attempt::Bias => unsafe { far.accumulate(op, origin) }.map(Ok),
        // SAFETY: the same.
        Attempt::Lock => unsafe { far.accumulate_in_turn(op, origin) }.map(Ok),
        Attempt::Lane => Err(Refusal::Unfit),
    }
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
pub(crate) fn express_fetch_and_op(attempt: Attempt, call: FetchAndOpArguments) -> Express {
    let far = element(call.target_rank, call.target_disp, call.datatype, call.win);
    let (op, origin, result) = (call.op.0, call.origin_addr.cast(), call.result_addr.cast());
    match attempt {
        // SAFETY: the program promises that the operand and room for the result are there.
        Attempt::Bias => unsafe { far.fetch_and_op(op, origin, result) }.map(Ok),
        // SAFETY: the same.
        Attempt::Lock => unsafe { far.fetch_and_op_in_turn(op, origin, result) }.map(Ok),
        Attempt::Lane => Err(Refusal::Unfit),
    }
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
pub(crate) fn express_compare_and_swap(attempt: Attempt, call: CompareAndSwapArguments) -> Express {
    let far = element(call.target_rank, call.target_disp, call.datatype, call.win);
    let (origin, compared) = (call.origin_addr.cast(), call.compare_addr.cast());
    let result = call.result_addr.cast();
    match attempt {
        // SAFETY: the program promises that both values and room for the result are there.
        Attempt::Bias => unsafe { far.compare_and_swap(origin, compared, result) }.map(Ok),
        // SAFETY: the same.
        Attempt::Lock => unsafe { far.compare_and_swap_in_turn(origin, compared, result) }.map(Ok),
        Attempt::Lane => Err(Refusal::Unfit),
    }
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
