//! Reading statuses.

use crate::argument::{CountOut, List, Out, StatusOut, bytes_of, is_cancelled};
use crate::error::Result;
use heddle_comm::datatype;
use heddle_spec::Status;
use heddle_spec::constants::MPI_UNDEFINED;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::c_int;

pub(crate) fn get_count(status: List<'_, Status>, datatype: DatatypeHandle, count: CountOut) -> Result<()> {
    let datatype = datatype::from_handle(datatype.0)?;
    count.set(datatype.get_count(bytes_of(status.only()?)).unwrap_or(MPI_UNDEFINED.into()))
}

pub(crate) fn test_cancelled(status: List<'_, Status>, flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(is_cancelled(status.only()?)))
}

pub(crate) fn status_get_source(status: List<'_, Status>, source: Out<c_int>) -> Result<()> {
    source.set(status.only()?.source)
}

pub(crate) fn status_get_tag(status: List<'_, Status>, tag: Out<c_int>) -> Result<()> {
    tag.set(status.only()?.tag)
}

pub(crate) fn status_set_source(status: StatusOut, source: c_int) -> Result<()> {
    status.update(|status| status.source = source)
}

pub(crate) fn status_set_tag(status: StatusOut, tag: c_int) -> Result<()> {
    status.update(|status| status.tag = tag)
}
