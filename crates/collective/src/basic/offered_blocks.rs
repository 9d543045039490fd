//! Blocks of any lengths in one round, one for each rank, which learns from a table where its own is. So
//! whether an operation takes a round does not depend on lengths that only some ranks know. As far as there
//! is room the blocks are copied to the blackboard, and the rank that publishes them waits for nobody. The
//! others stay where they are; it waits until their readers have copied them from there.

use crate::conversation::{Conversation, OnBlackboard};
use heddle_blackboard::{BlockTable, Limits};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// Blocks that a rank offers in a round.
#[derive(Debug)]
pub(crate) struct OfferedBlocks {
    round: u32,
    blocks: BlockTable,
    /// Exposed blocks with gaps, and where they are without.
    copies: Vec<(Buffer, Buffer)>,
}

impl OfferedBlocks {
    /// An offer of the block of each rank, within limits where they [fit](BlockTable::fits).
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        round: u32,
        blocks: Box<[Buffer]>,
        limits: Limits,
    ) -> Result<OfferedBlocks> {
        let mut copies = Vec::new();
        let in_one_piece = |block: &Buffer| -> Result<Buffer> {
            let (elements, is_elsewhere) = talk.in_one_piece(block)?;
            let whole = elements.buffer(block.len() as i64);
            if is_elsewhere {
                copies.push((*block, whole));
            }
            Ok(whole)
        };
        let blocks = BlockTable::new(blocks, &limits, in_one_piece)?;
        Ok(OfferedBlocks { round, blocks, copies })
    }

    /// Publishes them.
    #[must_use = "exposed blocks have to be taken back"]
    pub(crate) fn publish(self, talk: &mut OnBlackboard<'_, '_>) -> Offered {
        for (block, whole) in &self.copies {
            talk.copy(block, whole);
        }
        let offered = Offered { round: self.round, are_exposed: self.blocks.has_exposed() };
        talk.publish_blocks(self.round, self.blocks);
        offered
    }
}

/// Blocks that are published.
#[derive(Debug)]
pub(crate) struct Offered {
    round: u32,
    are_exposed: bool,
}

impl Offered {
    /// Waits until nobody reads the program's memory any more.
    pub(crate) fn take_back(self, talk: &mut OnBlackboard<'_, '_>) {
        if self.are_exposed {
            talk.await_finished(self.round, None);
        }
    }
}
