//! The standard's ABI.

pub(crate) mod descriptor;
pub(crate) mod handle;
pub(crate) mod special;

pub(crate) use heddle_spec::{Status, constants};
use std::ffi::c_int;

/// The key of a predefined attribute is the same number in C.
pub(crate) fn in_c(keyval: c_int) -> c_int {
    keyval
}
