//! The machines of a communicator's ranks. Its processes exchange no messages to learn them: each asks its
//! launcher, which tells all of them the same. So they choose alike even if one is lost at that time.

use heddle_comm::CommRef;
use heddle_comm::machines::Machines;
use heddle_message::domain::Domain;

/// Returns true if these processes share this process's memory. All of them give the same answer.
pub(super) fn share_memory(processes: Vec<u32>, domain: &Domain) -> bool {
    processes.into_iter().all(|process| domain.fabric().is_local(process as usize))
}

/// The machines of a communicator's ranks; `None` if leaders are of no use, or the launcher does not tell.
pub(super) fn machines(comm: &CommRef, domain: &Domain) -> Option<Machines> {
    Machines::new(&domain.fabric().nodes_of(&comm.group.world_ranks())?, comm.rank())
}
