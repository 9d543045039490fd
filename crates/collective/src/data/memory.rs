//! Memory of the library that lives as long as an operation.

use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// The alignment of temporaries.
const ALIGNMENT: usize = 16;

/// A piece of the heap.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    fn new(len: usize, zeroed: bool) -> Option<Memory> {
        let layout = Layout::from_size_align(len.max(1), ALIGNMENT).ok()?;
        // Memory without gaps is not cleared, which for long vectors would cost as much as copying them.
        let start = if zeroed {
            // SAFETY: the layout is not empty.
            unsafe { alloc_zeroed(layout) }
        } else {
            // SAFETY: the layout is not empty.
            unsafe { alloc(layout) }
        };
        NonNull::new(start).map(|start| Memory { start, layout })
    }

    /// Room for `count` elements, and the address of the first of them.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn for_elements(datatype: &TypeInUse, count: i64) -> Result<(Memory, *mut u8)> {
        let new = || {
            let (low, high) = span(datatype, count)?;
            let memory = Memory::new((high - low) as usize, !datatype.is_contiguous())?;
            let address = memory.start.as_ptr().wrapping_offset(-low as isize);
            Some((memory, address))
        };
        new().ok_or_else(|| no_memory(datatype, count))
    }
}

// SAFETY: the memory belongs to its owner alone, whichever thread that is.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// The bytes from the first to behind the last of the data of `count` elements, counted from the address of
/// the first element; the start is rounded down so that aligning it aligns the element.
fn span(datatype: &TypeInUse, count: i64) -> Option<(i64, i64)> {
    if count <= 0 || datatype.size() == 0 {
        return Some((0, 0));
    }
    let last = datatype.extent().checked_mul(count - 1)?;
    let low = datatype.true_lb().checked_add(last.min(0))?;
    let high = datatype.true_lb().checked_add(datatype.true_extent())?.checked_add(last.max(0))?;
    let low = low.div_euclid(ALIGNMENT as i64).checked_mul(ALIGNMENT as i64)?;
    high.checked_sub(low)?;
    Some((low, high))
}

#[cold]
fn no_memory(datatype: &TypeInUse, count: i64) -> Error {
    let message = format!(
        "there is no memory for a copy of {count} elements of {} bytes, which the operation needs",
        datatype.true_extent()
    );
    Error::new(mpi::MPI_ERR_NO_MEM, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_datatype::types;

    #[test]
    fn temporaries_are_aligned_and_large_enough() {
        let double = TypeInUse::predefined(&types::MPI_DOUBLE);
        assert_eq!(span(&double, 3), Some((0, 24)));
        assert_eq!(span(&double, 0), Some((0, 0)));
        assert_eq!(span(&double, i64::MAX), None);
        let (_memory, address) = Memory::for_elements(&double, 3).expect("memory");
        assert_eq!(address.addr() % 16, 0);
        let too_much = Memory::for_elements(&double, i64::MAX / 64).map(|_| ());
        assert_eq!(too_much.map_err(|error| error.code()), Err(mpi::MPI_ERR_NO_MEM));
    }
}
