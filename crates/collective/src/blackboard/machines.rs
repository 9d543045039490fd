//! The ranks of a communicator that is on several machines tell each other which of them share one.

use super::bytes;
use crate::binomial::Binomial;
use crate::messages::{Channel, Messages};
use crate::tag;
use heddle_comm::CommRef;
use heddle_comm::machines::Machines;
use heddle_message::domain::Domain;

/// Stands for a leader that is not known.
const UNKNOWN: u32 = u32::MAX;

/// Returns true if all ranks share this process's machine. All ranks give the same answer.
pub(super) fn is_on_one_machine(comm: &CommRef, domain: &Domain) -> bool {
    let is_local = |rank: u32| domain.fabric().is_local(rank as usize);
    comm.group.world_ranks().into_iter().all(is_local)
}

/// The machines of a communicator's ranks. Each tells the lowest rank of its machine, and rank 0 tells all of
/// them to all. `None` if leaders are of no use, or a message has failed.
pub(super) fn machines(comm: &CommRef, domain: &Domain) -> Option<Machines> {
    let is_local = |rank: u32| domain.fabric().is_local(rank as usize);
    let leader = comm.group.world_ranks().into_iter().position(is_local)?;
    let mut leaders = vec![UNKNOWN; comm.size()];
    leaders[comm.rank()] = leader as u32;
    let (node, mut messages) = (Binomial::new(comm.rank(), comm.size()), Messages::default());
    let channel = Channel { comm, tag: tag::BLACKBOARD };
    for child in node.children() {
        let below = Binomial::new(child, comm.size()).subtree();
        messages.receive(channel, child, bytes(&mut leaders[below]));
    }
    if let Some(parent) = node.parent() {
        messages.send(channel, parent, bytes(&mut leaders[node.subtree()]));
        messages.receive(channel, parent, bytes(&mut leaders));
    }
    for child in node.children().rev() {
        messages.send(channel, child, bytes(&mut leaders));
    }
    messages.take_error().is_none().then(|| Machines::new(&leaders, comm.rank()))?
}
