//! `MPI_Barrier`.

use super::basic::by_dissemination;
use super::between_groups::barrier_between;
use super::conversation::Conversation;
use super::tag;
use heddle_comm::error::Result;

/// Returns when all processes of the communicator have called it; of an intercommunicator, all of the other
/// group.
///
/// # Errors
/// An error of one of its messages.
pub fn barrier(talk: &mut Conversation<'_>) -> Result<()> {
    talk.name(tag::BARRIER);
    if talk.is_between_groups() {
        barrier_between(talk);
    } else {
        by_dissemination(talk);
    }
    Ok(())
}
