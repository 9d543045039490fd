//! The program's data: arrays of elements, and blocks of them for the ranks.

use super::numbers::Numbers;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::{Error, Result};
use heddle_message::buffer::{Buffer, check_address, check_count};
use heddle_spec::constants as mpi;
use std::ops::Range;

/// Elements of a datatype that follow each other in memory, one extent apart. The number is not stored: the
/// caller of [`Elements::new`] promises that all elements asked for later are valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elements<'a> {
    address: *mut u8,
    datatype: &'a TypeInUse,
}

impl<'a> Elements<'a> {
    /// The elements of `datatype` from `address` on.
    ///
    /// # Safety
    /// All elements that will be asked of it are valid.
    #[inline(always)]
    pub(crate) unsafe fn new(address: *mut u8, datatype: &'a TypeInUse) -> Elements<'a> {
        Elements { address, datatype }
    }

    #[inline(always)]
    pub(crate) fn address(self) -> *mut u8 {
        self.address
    }

    #[inline(always)]
    pub(crate) fn datatype(self) -> &'a TypeInUse {
        self.datatype
    }

    /// The elements from number `index` on.
    #[inline(always)]
    pub(crate) fn at(self, index: i64) -> Elements<'a> {
        let bytes = index.wrapping_mul(self.datatype.extent()) as isize;
        Elements { address: self.address.wrapping_offset(bytes), datatype: self.datatype }
    }

    /// The first `count` of them.
    #[inline(always)]
    pub(crate) fn buffer(self, count: i64) -> Buffer {
        // SAFETY: the caller of `new` promised that this memory is valid.
        unsafe { Buffer::new(self.address, count, self.datatype) }
    }
}

/// A number of elements in the program's memory. Where an operation has a block for each rank, it is the
/// first block, and the others follow it.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub(crate) elements: Elements<'a>,
    pub(crate) count: i64,
}

impl<'a> Part<'a> {
    /// `count` elements of `datatype` at `address`.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` if the count is impossible; `MPI_ERR_BUFFER` if the elements
    /// cannot be at a null address.
    ///
    /// # Safety
    /// The elements of every block that the operation has in this memory are valid for it:
    /// for reads if it sends them, for writes if it receives them.
    #[inline(always)]
    pub unsafe fn new(address: *mut u8, count: i64, datatype: &'a TypeInUse) -> Result<Part<'a>> {
        let bytes = check_count(count, datatype)?;
        check_address(address, bytes, datatype)?;
        Ok(Part { elements: Elements { address, datatype }, count })
    }

    #[inline(always)]
    pub(crate) fn buffer(&self) -> Buffer {
        self.elements.buffer(self.count)
    }

    /// That number of blocks, the first of which this is.
    pub(crate) fn blocks(&self, number: usize) -> Buffer {
        self.elements.buffer(self.count * number as i64)
    }

    /// The blocks of some ranks, if this is that of rank 0.
    pub(crate) fn blocks_of(&self, ranks: Range<usize>) -> Buffer {
        self.elements
            .at((ranks.start as i64).wrapping_mul(self.count))
            .buffer(self.count * ranks.len() as i64)
    }

    /// Bytes of data.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        (self.count * self.elements.datatype.size()) as usize
    }

    /// Returns true if two parts surely overlap: they start at one address, and both have data of predefined
    /// types, which have no gaps in which the other could lie.
    #[inline(always)]
    pub(crate) fn aliases(&self, other: &Part<'_>) -> bool {
        self.elements.address == other.elements.address
            && self.len() != 0
            && other.len() != 0
            && self.elements.datatype.is_predefined()
            && other.elements.datatype.is_predefined()
    }
}

/// Returns true if for one of that many ranks the data begin where the block does, and neither has gaps in
/// which the other could lie.
#[inline(always)]
pub(crate) fn overlap(data: impl Fn(usize) -> Buffer, blocks: &(impl Blocks + ?Sized), ranks: usize) -> bool {
    (0..ranks).any(|rank| {
        let one = data(rank);
        // Mostly there is no need to look at more than the addresses.
        if one.contiguous() != Some(blocks.address(rank)) {
            return false;
        }
        let other = blocks.block(rank);
        !one.is_empty() && !other.is_empty() && other.contiguous().is_some()
    })
}

/// The error for a send buffer and a receive buffer that overlap.
#[cold]
pub(crate) fn same_memory() -> Error {
    let message = "the send buffer and the receive buffer are the same memory: pass MPI_IN_PLACE instead of one of them";
    Error::new(mpi::MPI_ERR_BUFFER, message)
}

/// Blocks of elements of one datatype, one for each rank, of any size and anywhere in memory.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    elements: Elements<'a>,
    counts: Numbers<'a>,
    displs: Numbers<'a>,
}

impl<'a> Parts<'a> {
    /// For rank *i* `counts[i]` elements of `datatype`, `displs[i]` extents from `address`.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`; `MPI_ERR_BUFFER`.
    ///
    /// # Safety
    /// The same as for [`Part::new`], for all blocks.
    #[inline(always)]
    pub unsafe fn new(
        address: *mut u8,
        counts: Numbers<'a>,
        displs: Numbers<'a>,
        datatype: &'a TypeInUse,
    ) -> Result<Parts<'a>> {
        let elements = Elements { address, datatype };
        for rank in 0..counts.len() {
            let bytes = check_count(counts.at(rank), datatype)?;
            check_address(elements.at(displs.at(rank)).address, bytes, datatype)?;
        }
        Ok(Parts { elements, counts, displs })
    }
}

/// Blocks of elements, each of a datatype of its own.
#[derive(Debug, Clone, Copy)]
pub struct TypedParts<'a> {
    address: *mut u8,
    counts: Numbers<'a>,
    displs: Numbers<'a>,
    datatypes: &'a [TypeInUse],
}

impl<'a> TypedParts<'a> {
    /// For rank *i* `counts[i]` elements of `datatypes[i]`, `displs[i]` bytes from `address`.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`; `MPI_ERR_BUFFER`.
    ///
    /// # Safety
    /// The same as for [`Part::new`], for all blocks.
    pub unsafe fn new(
        address: *mut u8,
        counts: Numbers<'a>,
        displs: Numbers<'a>,
        datatypes: &'a [TypeInUse],
    ) -> Result<TypedParts<'a>> {
        for (rank, datatype) in datatypes.iter().enumerate() {
            let bytes = check_count(counts.at(rank), datatype)?;
            check_address(address.wrapping_offset(displs.at(rank) as isize), bytes, datatype)?;
        }
        Ok(TypedParts { address, counts, displs, datatypes })
    }
}

/// The block of each rank.
pub(crate) trait Blocks {
    /// The block of `rank`.
    fn block(&self, rank: usize) -> Buffer;

    /// The address from which its elements lie.
    fn address(&self, rank: usize) -> *mut u8 {
        self.block(rank).address()
    }
}

impl Blocks for Vec<Buffer> {
    fn block(&self, rank: usize) -> Buffer {
        self[rank]
    }
}

impl Blocks for Part<'_> {
    #[inline(always)]
    fn block(&self, rank: usize) -> Buffer {
        self.elements.at((rank as i64).wrapping_mul(self.count)).buffer(self.count)
    }

    #[inline(always)]
    fn address(&self, rank: usize) -> *mut u8 {
        self.elements.at((rank as i64).wrapping_mul(self.count)).address
    }
}

impl Blocks for Parts<'_> {
    #[inline(always)]
    fn block(&self, rank: usize) -> Buffer {
        self.elements.at(self.displs.at(rank)).buffer(self.counts.at(rank))
    }

    #[inline(always)]
    fn address(&self, rank: usize) -> *mut u8 {
        self.elements.at(self.displs.at(rank)).address
    }
}

impl Blocks for TypedParts<'_> {
    fn block(&self, rank: usize) -> Buffer {
        let address = self.address.wrapping_offset(self.displs.at(rank) as isize);
        // SAFETY: the caller of `new` promised that this memory is valid.
        unsafe { Buffer::new(address, self.counts.at(rank), &self.datatypes[rank]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_datatype::types;

    #[test]
    fn wrong_counts_and_addresses_are_errors() {
        let int = TypeInUse::predefined(&types::MPI_INT);
        let code = |address, count| {
            // SAFETY: nothing is read or written.
            unsafe { Part::new(address, count, &int) }.map(|_| ()).map_err(|error| error.code())
        };
        let mut value = 0u32;
        let address = (&raw mut value).cast();
        assert_eq!(code(address, 1), Ok(()));
        assert_eq!(code(std::ptr::null_mut(), 0), Ok(()));
        assert_eq!(code(std::ptr::null_mut(), 1), Err(mpi::MPI_ERR_BUFFER));
        assert_eq!(code(address, -1), Err(mpi::MPI_ERR_COUNT));
        assert_eq!(code(address, i64::MAX), Err(mpi::MPI_ERR_COUNT));
    }
}
