//! The dimensions of an array, whatever the descriptor.

/// One dimension of an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dimension {
    /// The number of its elements; 0 or -1 for the last one of an array whose size is unknown.
    pub(crate) extent: isize,
    /// The bytes from an element to the next one.
    pub(crate) stride: isize,
}

/// Returns true if there may be gaps between the elements of an array.
#[inline(always)]
pub(crate) fn have_gaps(dimensions: impl Iterator<Item = Dimension>, element_bytes: isize) -> bool {
    let mut bytes = element_bytes;
    for Dimension { extent, stride } in dimensions {
        if stride != bytes && extent != 1 {
            return true;
        }
        bytes = bytes.wrapping_mul(extent);
    }
    false
}
