//! Memory of the library for an operation, which lives as long as the operation.

use super::description::Conversation;
use crate::data::{Elements, Memory, Reduction};
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_datatype::types;
use heddle_message::buffer::Buffer;

static BYTE: TypeInUse = TypeInUse::predefined(&types::MPI_BYTE);

impl Conversation<'_> {
    /// Room for `count` elements, which lives as long as the operation, aligned for every basic type. The
    /// gaps of a datatype are zeroed; data must be written before they are read.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn temporary<'d>(&mut self, datatype: &'d TypeInUse, count: i64) -> Result<Elements<'d>> {
        let (memory, address) = Memory::for_elements(datatype, count)?;
        self.memory.push(memory);
        // SAFETY: the memory has room for the elements, and lives as long as the operation.
        Ok(unsafe { Elements::new(address, datatype) })
    }

    /// Room for a vector of operands.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn vector<'d>(&mut self, reduction: &Reduction<'d>, count: i64) -> Result<Elements<'d>> {
        self.temporary(reduction.datatype(), count)
    }

    /// `destination`, or room for a vector of operands.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn vector_in<'d>(
        &mut self,
        destination: Option<Elements<'d>>,
        reduction: &Reduction<'d>,
        count: i64,
    ) -> Result<Elements<'d>> {
        destination.map_or_else(|| self.vector(reduction, count), Ok)
    }

    /// Room for `len` bytes.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn temporary_bytes(&mut self, len: usize) -> Result<Elements<'static>> {
        self.temporary(&BYTE, len as i64)
    }

    /// Room for the data of a buffer in one piece: the buffer itself, or a temporary if the data has gaps.
    /// Returns whether it is a temporary, between which and the buffer the data must be copied.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn in_one_piece(&mut self, buffer: &Buffer) -> Result<(Elements<'static>, bool)> {
        match buffer.contiguous() {
            // SAFETY: the buffer's bytes are valid for the operation.
            Some(address) => Ok((unsafe { Elements::new(address, &BYTE) }, false)),
            None => Ok((self.temporary_bytes(buffer.len())?, true)),
        }
    }
}
