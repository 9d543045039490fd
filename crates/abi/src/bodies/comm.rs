//! Groups, contexts, communicators and caching.

use crate::argument::Out;
use crate::error::Result;
use heddle_engine::comm::CommRef;
use heddle_spec::handle::CommHandle;
use std::ffi::c_int;

pub(crate) fn comm_rank(comm: CommHandle, rank: Out<c_int>) -> Result<()> {
    rank.set(CommRef::from_handle(comm.0)?.rank() as c_int)
}

pub(crate) fn comm_size(comm: CommHandle, size: Out<c_int>) -> Result<()> {
    size.set(CommRef::from_handle(comm.0)?.size() as c_int)
}
