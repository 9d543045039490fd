//! `MPI_Barrier`.

use super::basic::by_dissemination;
use super::between_groups::barrier_between;
use super::blackboard::Source;
use super::choices::choices;
use super::conversation::Conversation;
use super::tag;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// Returns when all processes of the communicator have called it; of an intercommunicator, all of the other
/// group.
///
/// # Errors
/// An error of one of its messages.
pub fn barrier(talk: &mut Conversation<'_>) -> Result<()> {
    talk.name(tag::BARRIER);
    if talk.is_between_groups() {
        barrier_between(talk);
    } else if talk.limits(choices().barrier).is_some() {
        on_blackboard(talk);
    } else {
        by_dissemination(talk);
    }
    Ok(())
}

/// All publish, and wait for all.
fn on_blackboard(talk: &mut Conversation<'_>) {
    talk.take_rounds(1);
    talk.publish(0, Buffer::empty(), None);
    let own = talk.rank();
    for rank in (0..talk.size()).filter(|&rank| rank != own) {
        talk.see(Source { round: 0, rank, whole: 0, offset: 0 });
    }
    talk.finish_round(0);
}
