//! Functions that a program hands in.

use std::ffi::c_void;

/// A function that a program hands in, or one of the standard's predefined constants in place of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    /// Address of the function; 0 and 1 may have a meaning of their own.
    pub(crate) address: *const c_void,
    /// Whether it takes large counts.
    pub(crate) large: bool,
}
