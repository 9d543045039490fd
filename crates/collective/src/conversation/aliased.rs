//! Send and receive buffers that are the same memory: an error of one rank, of which the others know nothing
//! and for which they would wait. So the operation goes on, with a copy of what is sent, and the rank gets
//! its error at the end: from the blocking call, or as the outcome of the request.

use super::description::Conversation;
use crate::data::{Blocks, Part, overlap, same_memory};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

impl Conversation<'_> {
    /// `send`, or a copy of that many blocks of it if it is the memory of `receive`.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    #[inline(always)]
    pub(crate) fn apart<'d>(
        &mut self,
        send: Part<'d>,
        receive: &Part<'_>,
        blocks: usize,
    ) -> Result<Part<'d>> {
        if send.aliases(receive) { self.copied(send, blocks) } else { Ok(send) }
    }

    /// The same of a buffer whose data are surely those of a block.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    #[inline(always)]
    pub(crate) fn buffer_apart(&mut self, send: Buffer, receive: &(impl Blocks + ?Sized)) -> Result<Buffer> {
        if !overlap(|_| send, receive, self.size()) {
            return Ok(send);
        }
        self.fail(same_memory());
        self.copied_buffer(&send)
    }

    /// Copies of the blocks to be sent, if one of them is the memory of a block received there.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    #[inline(always)]
    pub(crate) fn blocks_apart(
        &mut self,
        send: &(impl Blocks + ?Sized),
        receive: impl Fn(usize) -> Buffer,
    ) -> Result<Option<Vec<Buffer>>> {
        if !overlap(receive, send, self.size()) {
            return Ok(None);
        }
        self.copied_blocks(|rank| send.block(rank)).map(Some)
    }

    #[cold]
    fn copied_blocks(&mut self, block: impl Fn(usize) -> Buffer) -> Result<Vec<Buffer>> {
        self.fail(same_memory());
        (0..self.size()).map(|rank| self.copied_buffer(&block(rank))).collect()
    }

    #[cold]
    fn copied<'d>(&mut self, send: Part<'d>, blocks: usize) -> Result<Part<'d>> {
        self.fail(same_memory());
        let count = send.count * blocks as i64;
        let elements = self.temporary(send.elements.datatype(), count)?;
        self.copy(&send.blocks(blocks), &elements.buffer(count));
        Ok(Part { elements, count: send.count })
    }

    /// A copy of data, which lives as long as the operation.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn copied_buffer(&mut self, data: &Buffer) -> Result<Buffer> {
        let copy = self.temporary_bytes(data.len())?.buffer(data.len() as i64);
        self.copy(data, &copy);
        Ok(copy)
    }
}
