//! Memory of the library that lives as long as an operation.

use super::elements::Elements;
use heddle_comm::datatype::TypeRef;
use heddle_comm::error::{Error, Result};
use heddle_datatype::types;
use heddle_message::buffer::Buffer;
use heddle_spec::constants as mpi;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Memory of the library for elements of a datatype, aligned for every basic type. The gaps of a datatype are
/// zeroed; data must be written before they are read.
#[derive(Debug)]
pub(super) struct Temporary<'a> {
    // Never read, for `elements` leads there.
    _memory: Memory,
    elements: Elements<'a>,
}

/// The alignment of temporaries.
const ALIGNMENT: usize = 16;

static BYTE: TypeRef = TypeRef::predefined(&types::MPI_BYTE);

/// A piece of the heap.
#[derive(Debug)]
struct Memory {
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
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl<'a> Temporary<'a> {
    /// Room for `count` elements.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn new(datatype: &'a TypeRef, count: i64) -> Result<Temporary<'a>> {
        let new = || {
            let (low, high) = span(datatype, count)?;
            let memory = Memory::new((high - low) as usize, !datatype.is_contiguous())?;
            let address = memory.start.as_ptr().wrapping_offset(-low as isize);
            // SAFETY: the memory has room for the elements, and lives as long as the temporary.
            Some(Temporary { _memory: memory, elements: unsafe { Elements::new(address, datatype) } })
        };
        new().ok_or_else(|| no_memory(datatype, count))
    }

    /// Room for `len` bytes.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn bytes(len: usize) -> Result<Temporary<'static>> {
        Temporary::new(&BYTE, len as i64)
    }

    /// The elements.
    pub(super) fn elements(&self) -> Elements<'_> {
        self.elements
    }
}

/// The memory in which a vector is built: the caller's, or a temporary.
#[derive(Debug)]
pub(super) enum Room<'a> {
    Given(Elements<'a>),
    Allocated(Temporary<'a>),
}

impl<'a> Room<'a> {
    /// `destination`, or room for `count` elements.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn given_or_allocated(
        destination: Option<Elements<'a>>,
        datatype: &'a TypeRef,
        count: i64,
    ) -> Result<Room<'a>> {
        destination.map_or_else(
            || Temporary::new(datatype, count).map(Room::Allocated),
            |destination| Ok(Room::Given(destination)),
        )
    }

    pub(super) fn elements(&self) -> Elements<'_> {
        match self {
            Room::Given(elements) => *elements,
            Room::Allocated(temporary) => temporary.elements(),
        }
    }
}

/// The data of a buffer in one piece: the buffer itself, or a temporary if it has gaps.
#[derive(Debug)]
pub(super) struct OnePiece {
    bytes: Elements<'static>,
    temporary: Option<Temporary<'static>>,
}

impl OnePiece {
    /// Room for the data of `buffer`, which are not copied yet.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn of(buffer: &Buffer) -> Result<OnePiece> {
        match buffer.contiguous() {
            Some(address) => {
                // SAFETY: the buffer's bytes are valid for the operation.
                let bytes = unsafe { Elements::new(address, &BYTE) };
                Ok(OnePiece { bytes, temporary: None })
            }
            None => {
                let temporary = Temporary::bytes(buffer.len())?;
                Ok(OnePiece { bytes: temporary.elements, temporary: Some(temporary) })
            }
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> Elements<'_> {
        self.bytes
    }

    /// Returns true if the data must be copied between this and the buffer.
    pub(super) fn is_copy(&self) -> bool {
        self.temporary.is_some()
    }
}

/// The bytes from the first to behind the last of the data of `count` elements, counted from the address of
/// the first element; the start is rounded down so that aligning it aligns the element.
fn span(datatype: &TypeRef, count: i64) -> Option<(i64, i64)> {
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
fn no_memory(datatype: &TypeRef, count: i64) -> Error {
    let message = format!(
        "there is no memory for a copy of {count} elements of {} bytes, which the operation needs",
        datatype.true_extent()
    );
    Error::new(mpi::MPI_ERR_NO_MEM, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporaries_are_aligned_and_large_enough() {
        let double = TypeRef::predefined(&types::MPI_DOUBLE);
        assert_eq!(span(&double, 3), Some((0, 24)));
        assert_eq!(span(&double, 0), Some((0, 0)));
        assert_eq!(span(&double, i64::MAX), None);
        let temporary = Temporary::new(&double, 3).expect("memory");
        assert_eq!(temporary.elements().address().addr() % 16, 0);
        let bytes = Temporary::bytes(5).expect("memory").elements().buffer(5);
        assert_eq!(bytes.len(), 5);
        assert_eq!(
            Temporary::new(&double, i64::MAX / 64).map_err(|e| e.code()).err(),
            Some(mpi::MPI_ERR_NO_MEM)
        );
    }
}
