//! Allgather by leaders: each brings together the blocks of its machine, the leaders have an allgather of
//! these, and each gives all blocks to the ranks of its machine.

use super::by_machine::ByMachine;
use crate::bcast::bcast_from;
use crate::conversation::{Conversation, Leaders};
use crate::data::Blocks;
use crate::gather::gather_blocks;
use crate::ranks::Circle;
use heddle_comm::error::Result;

/// This rank's block must be in the receive buffer already. `allgather` is the operation among the ranks that
/// act.
///
/// # Errors
/// Those of its parts; `MPI_ERR_NO_MEM`.
pub(super) fn allgather<'a>(
    talk: &mut Conversation<'a>,
    leaders: Leaders<'a>,
    blocks: &dyn Blocks,
    allgather: impl Fn(&mut Conversation<'a>, &dyn Blocks) -> Result<()>,
) -> Result<()> {
    let (root, own) = (leaders.here(), blocks.block(talk.rank()));
    let together = ByMachine::new(talk, leaders, |rank| blocks.block(rank).len())?;
    let of_members = together.of_members();
    let at_leader = leaders.is_one().then_some(&of_members as &dyn Blocks);
    talk.on_machine(leaders, |talk| gather_blocks(talk, Some(own), at_leader, root))?;
    if leaders.is_one() {
        talk.among_leaders(leaders, |talk| allgather(talk, &together.of_machines()))?;
    }
    talk.on_machine(leaders, |talk| bcast_from(talk, together.whole(), Circle { root, size: talk.size() }))?;
    for rank in talk.others() {
        talk.copy(&together.of_rank(rank), &blocks.block(rank));
    }
    Ok(())
}
