//! Point-to-point communication.

use crate::argument::{List, Out, StatusOut};
use crate::error::Result;
use heddle_spec::Status;
use std::ffi::c_int;

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
