//! Arguments with a descriptor (`CFI_cdesc_t` of Fortran 2018, section 18.5.3).

use std::ffi::{c_char, c_int, c_void};

/// The fields that gfortran and flang have in the same places. The rank, the type and the bounds come behind
/// them; nobody asks for them, since the compiler passes buffers without gaps.
#[repr(C)]
pub(crate) struct Descriptor {
    /// Where the data begins.
    pub(crate) address: *mut c_void,
    /// The bytes of an element; of characters, their number.
    element_bytes: usize,
    version: c_int,
}

impl Descriptor {
    /// The address and the number of the characters.
    pub(crate) fn characters(&self) -> (*mut c_char, usize) {
        (self.address.cast(), self.element_bytes)
    }
}
