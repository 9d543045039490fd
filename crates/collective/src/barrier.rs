//! `MPI_Barrier`.

use super::basic::{bcast_by_tree, by_dissemination};
use super::between_groups::barrier_between;
use super::blackboard::Source;
use super::choices::choices;
use super::conversation::{Conversation, Leaders};
use super::messages::tag;
use super::ranks::{Binomial, Circle};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Returns when all processes of the communicator have called it; of an intercommunicator, all of the other
/// group.
///
/// # Errors
/// An error of one of its messages.
pub fn barrier(talk: &mut Conversation<'_>) -> Result<()> {
    talk.name(tag::BARRIER);
    talk.note(0);
    let choice = choice(talk);
    if talk.is_between_groups() {
        barrier_between(talk);
    } else if talk.limits(choice).is_some() {
        on_blackboard(talk);
    } else if let Some(machines) = talk.machines(choice, true) {
        by_leaders(talk, Leaders::new(machines, None));
    } else {
        by_dissemination(talk);
    }
    Ok(())
}

/// The algorithm of the ranks that act now.
fn choice(talk: &Conversation<'_>) -> Algorithm {
    choices().algorithm(CollectiveOperation::Barrier, talk.size(), || 0)
}

/// All publish, and wait for all.
fn on_blackboard(talk: &mut Conversation<'_>) {
    let talk = &mut talk.take_rounds(1);
    talk.publish(0, Buffer::empty(), None);
    let own = talk.rank();
    for rank in (0..talk.size()).filter(|&rank| rank != own) {
        talk.see(Source { round: 0, rank, whole: 0, offset: 0 });
    }
    talk.finish_round(0);
}

/// The ranks of each machine tell its leader that they are here, the leaders have a barrier, and each leader
/// tells its machine that all are here.
fn by_leaders<'a>(talk: &mut Conversation<'a>, leaders: Leaders<'a>) {
    if leaders.has_others_here() {
        talk.on_machine(leaders, tell_leader);
    }
    if leaders.is_one() {
        talk.among_leaders(leaders, by_dissemination);
    }
    if leaders.has_others_here() {
        talk.on_machine(leaders, hear_leader);
    }
}

/// Rank 0 of those that act hears from all others.
fn tell_leader(talk: &mut Conversation<'_>) {
    if talk.limits(choice(talk)).is_some() {
        let talk = &mut talk.take_rounds(1);
        if talk.rank() == 0 {
            for rank in 1..talk.size() {
                talk.see(Source { round: 0, rank, whole: 0, offset: 0 });
            }
        } else {
            talk.publish(0, Buffer::empty(), Some(0));
        }
        talk.finish_round(0);
    } else {
        let node = Binomial::new(talk.rank(), talk.size());
        for child in node.children() {
            talk.receive(child, Buffer::empty());
        }
        if let Some(parent) = node.parent() {
            talk.send(parent, Buffer::empty());
        }
    }
}

/// The other ranks that act hear from rank 0.
fn hear_leader(talk: &mut Conversation<'_>) {
    if talk.limits(choice(talk)).is_some() {
        let talk = &mut talk.take_rounds(1);
        if talk.rank() == 0 {
            talk.publish(0, Buffer::empty(), None);
        } else {
            talk.see(Source { round: 0, rank: 0, whole: 0, offset: 0 });
        }
        talk.finish_round(0);
    } else {
        bcast_by_tree(talk, &Buffer::empty(), Circle { root: 0, size: talk.size() });
    }
}
