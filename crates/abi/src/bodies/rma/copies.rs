//! Put and get.

use super::with_request;
use crate::argument::{GetArguments, Out, PutArguments, buffer};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_p2p::Attempt;
use heddle_rma::{Far, PlainCopy, Win, WinRef};
use heddle_spec::handle::RequestHandle;

/// The arguments of a get as those of a put: they differ in whether the memory of the origin is written.
#[inline(always)]
fn like_put(call: GetArguments) -> PutArguments {
    PutArguments {
        origin_addr: call.origin_addr.cast_const(),
        origin_count: call.origin_count,
        origin_datatype: call.origin_datatype,
        target_rank: call.target_rank,
        target_disp: call.target_disp,
        target_count: call.target_count,
        target_datatype: call.target_datatype,
        win: call.win,
    }
}

#[inline(always)]
fn plain(call: PutArguments) -> PlainCopy {
    PlainCopy {
        address: call.origin_addr.cast::<u8>().cast_mut(),
        count: call.origin_count,
        datatype: call.origin_datatype.0,
        rank: call.target_rank,
        disp: call.target_disp,
        far_count: call.target_count,
        far_datatype: call.target_datatype.0,
        win: call.win.0,
    }
}

fn copy(call: PutArguments, operation: impl FnOnce(&Win, &Buffer, &Far) -> Result<()>) -> Result<()> {
    let win = WinRef::from_handle(call.win.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_datatype, origin) = unsafe { buffer(call.origin_addr, call.origin_count, call.origin_datatype) }?;
    let far = Far {
        rank: call.target_rank,
        disp: call.target_disp,
        count: call.target_count,
        datatype: call.target_datatype.0,
    };
    operation(&win, &origin, &far)
}

#[inline(always)]
pub(crate) fn express_put(_: Attempt, call: PutArguments) -> Express {
    // SAFETY: the program promises that the data is there.
    unsafe { plain(call).put() }.map(Ok)
}

pub(crate) fn put(call: PutArguments) -> Result<()> {
    copy(call, heddle_rma::put)
}

pub(crate) fn rput(call: PutArguments, request: Out<RequestHandle>) -> Result<()> {
    with_request(request, call.win, call.target_rank, || put(call))
}

#[inline(always)]
pub(crate) fn express_get(_: Attempt, call: GetArguments) -> Express {
    // SAFETY: the program promises that there is room.
    unsafe { plain(like_put(call)).get() }.map(Ok)
}

pub(crate) fn get(call: GetArguments) -> Result<()> {
    copy(like_put(call), heddle_rma::get)
}

pub(crate) fn rget(call: GetArguments, request: Out<RequestHandle>) -> Result<()> {
    with_request(request, call.win, call.target_rank, || get(call))
}
