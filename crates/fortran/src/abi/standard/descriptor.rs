//! Arguments with a descriptor (`CFI_cdesc_t` of Fortran 2018, section 18.5.3).

use super::super::dimension::{Dimension, have_gaps};
use std::ffi::{c_char, c_int, c_void};

/// The fields that gfortran and flang have in the same places; the dimensions follow.
#[repr(C)]
pub(crate) struct Descriptor {
    /// Where the first element is.
    pub(crate) address: *mut c_void,
    /// The bytes of an element; of characters, their number.
    element_bytes: usize,
    version: c_int,
    rank: u8,
    /// The type of the elements and of the argument, which each compiler writes in its own way.
    _types: [u8; 3],
    dimensions: [Bounds; 0],
}

/// One dimension of an array.
#[repr(C)]
struct Bounds {
    _lower: isize,
    /// The number of its elements; -1 for the last one of an array whose size is unknown.
    extent: isize,
    /// The bytes from an element to the next one.
    stride: isize,
}

impl Descriptor {
    /// The address and the number of the characters.
    pub(crate) fn characters(&self) -> (*mut c_char, usize) {
        (self.address.cast(), self.element_bytes)
    }

    /// The bytes of an element.
    pub(crate) fn element_bytes(&self) -> isize {
        self.element_bytes as isize
    }

    #[inline(always)]
    fn bounds(&self) -> &[Bounds] {
        // SAFETY: the compiler stores this number of dimensions behind the fields.
        unsafe { std::slice::from_raw_parts(self.dimensions.as_ptr(), usize::from(self.rank)) }
    }

    /// The dimensions, the first of which varies fastest.
    #[inline(always)]
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        self.bounds().iter().map(|bounds| Dimension { extent: bounds.extent, stride: bounds.stride })
    }

    /// Returns true for one element and for an array of one dimension without gaps. This is the usual case,
    /// and is found out quickly.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        match self.bounds() {
            [] => true,
            [bounds] => bounds.stride == self.element_bytes(),
            _ => false,
        }
    }

    /// Returns true if there may be gaps between the elements.
    pub(crate) fn has_gaps(&self) -> bool {
        have_gaps(self.dimensions(), self.element_bytes())
    }
}
