//! Datatypes.

use crate::argument::Out;
use crate::error::Result;
use std::ffi::c_void;

pub(crate) fn aint_add(base: i64, disp: i64) -> i64 {
    base.wrapping_add(disp)
}

pub(crate) fn aint_diff(addr1: i64, addr2: i64) -> i64 {
    addr1.wrapping_sub(addr2)
}

pub(crate) fn get_address(location: *const c_void, address: Out<i64>) -> Result<()> {
    address.set(location.expose_provenance() as i64)
}
