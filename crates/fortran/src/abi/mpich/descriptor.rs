//! Arguments with a descriptor: MPICH's `mpi_f08` is a module of gfortran without `bind(C)`, so that
//! gfortran's own descriptor comes with a buffer (that of version 8 and later). Characters come with their
//! length, as in `mpif.h`.

use super::super::dimension::{Dimension, have_gaps};
use std::ffi::{c_int, c_void};

/// A descriptor; the dimensions follow.
#[repr(C)]
pub(crate) struct Descriptor {
    /// Where the first element is.
    pub(crate) address: *mut c_void,
    /// Where an element with the indices 0 would be.
    _offset: usize,
    /// The bytes of an element.
    element_bytes: usize,
    _version: c_int,
    rank: u8,
    _type: u8,
    _attribute: i16,
    /// The bytes that strides count; 0 if a scalar has none.
    span: isize,
    dimensions: [Bounds; 0],
}

/// One dimension of an array.
#[repr(C)]
struct Bounds {
    /// The spans from an element to the next one.
    stride: isize,
    lower: isize,
    upper: isize,
}

impl Descriptor {
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
        let bounds = self.bounds().iter();
        bounds.map(|bounds| Dimension {
            extent: bounds.upper - bounds.lower + 1,
            stride: bounds.stride * self.span,
        })
    }

    /// Returns true for one element and for an array of one dimension without gaps. This is the usual case,
    /// and is found out quickly.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        match self.bounds() {
            [] => true,
            [bounds] => bounds.stride == 1 && self.span == self.element_bytes(),
            _ => false,
        }
    }

    /// Returns true if there may be gaps between the elements.
    pub(crate) fn has_gaps(&self) -> bool {
        have_gaps(self.dimensions(), self.element_bytes())
    }
}
