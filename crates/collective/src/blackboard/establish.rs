//! A communicator gets its blackboard by its first blocking operations, or by its first persistent one: rank
//! 0 allocates it, and tells the others where it is. If one of them cannot map it, or must not
//! (`HEDDLE_BLACKBOARDS`), all of them go on with messages. Then all say on it whether data may be exposed.

use super::{Rounds, Source};
use crate::binomial::Binomial;
use crate::messages::{Channel, Messages};
use crate::tag;
use heddle_comm::CommRef;
use heddle_comm::blackboard::{Blackboard, Span};
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_transport::SharedRange;

/// How many operations send messages before a communicator gets its blackboard: many live no longer.
const OPERATIONS_BEFORE: u32 = 2;

/// The blackboard for a blocking operation, which may be the one by which the communicator gets it.
#[inline(always)]
pub(crate) fn on_blackboard(comm: &CommRef) -> Option<&Blackboard> {
    match comm.blackboard.get() {
        Some(blackboard) => Some(blackboard),
        None if comm.blackboard.is_decided() => None,
        None => establish(comm),
    }
}

/// The blackboard for a persistent operation. Its initialisation may wait for all processes (MPI 5.0, section
/// 6.13), and the operation will be started again and again; so the communicator gets its blackboard now.
pub(crate) fn on_blackboard_from_now_on(comm: &CommRef) -> Option<&Blackboard> {
    if !comm.blackboard.is_decided() {
        comm.blackboard.decide(agree(comm));
    }
    comm.blackboard.get()
}

#[cold]
#[inline(never)]
fn establish(comm: &CommRef) -> Option<&Blackboard> {
    if comm.operations.next_blocking() < OPERATIONS_BEFORE {
        return None;
    }
    comm.blackboard.decide(agree(comm));
    comm.blackboard.get()
}

fn agree(comm: &CommRef) -> Option<Blackboard> {
    let domain = domain::running()?;
    let tree = Tree { comm, node: Binomial::new(comm.rank(), comm.size()) };
    let processes = || comm.group.world_ranks();
    let mut place = [0u64; 2];
    let mut blackboard = None;
    // Processes on different machines share no memory.
    let is_local = |rank| domain.fabric().is_local(rank as usize);
    let may = domain.may_have_blackboards() && processes().iter().all(|&rank| is_local(rank));
    if comm.rank() == 0 && may {
        blackboard = Blackboard::allocate(domain, 0, processes()).ok();
        if let Some(range) = blackboard.as_ref().and_then(Blackboard::range) {
            place = [range.offset, range.len];
        }
    }
    let is_there = tree.down(&mut place) && place[1] != 0;
    if is_there && comm.rank() != 0 && may {
        let range = SharedRange { offset: place[0], len: place[1] };
        blackboard = Blackboard::map(domain, comm.rank(), processes(), range).ok();
    }
    let works = blackboard.is_some();
    let mut all = [u64::from(works), 0];
    let works = tree.up(&mut all) & tree.down(&mut all);
    let mut blackboard = blackboard.filter(|_| works && all[0] == 1)?;
    if all_reach_all(comm, &blackboard) {
        blackboard.allow_exposing();
    }
    Some(blackboard)
}

/// Asks all processes whether they can copy from the memory of all others. It is the first round of the
/// blackboard, and all processes are there.
fn all_reach_all(comm: &CommRef, blackboard: &Blackboard) -> bool {
    let rounds = Rounds { blackboard, first: blackboard.begin(1), operation: tag::BLACKBOARD };
    let mut answer = [u64::from(blackboard.reaches_all()), 0];
    let own = bytes(&mut answer);
    rounds.until_finished(comm.vni(), || rounds.publish(0, (&own, Span::of(&own)), None));
    let mut messages = Messages::default();
    let mut is_true = answer[0] == 1;
    for rank in (0..comm.size()).filter(|&rank| rank != comm.rank()) {
        let mut answer = [0; 2];
        let room = bytes(&mut answer);
        let source = Source { round: 0, rank, whole: room.len(), offset: 0 };
        rounds.until(comm.vni(), || rounds.fetch(source, (&room, Span::of(&room)), &mut messages));
        is_true &= answer[0] == 1;
    }
    rounds.until_finished(comm.vni(), || rounds.finish(0));
    is_true && messages.take_error().is_none()
}

/// The tree of messages by which the processes agree.
#[derive(Debug)]
struct Tree<'a> {
    comm: &'a CommRef,
    node: Binomial,
}

impl Tree<'_> {
    fn channel(&self) -> Channel<'_> {
        Channel { comm: self.comm, tag: tag::BLACKBOARD }
    }

    /// Gives all processes the words of rank 0. Returns false if a message has failed.
    fn down(&self, words: &mut [u64; 2]) -> bool {
        let mut messages = Messages::default();
        if let Some(parent) = self.node.parent() {
            messages.receive(self.channel(), parent, bytes(words));
        }
        for child in self.node.children().rev() {
            messages.send(self.channel(), child, bytes(words));
        }
        messages.take_error().is_none()
    }

    /// Gives rank 0 a 1 in the first word if all processes have one. Returns false if a message has failed.
    fn up(&self, words: &mut [u64; 2]) -> bool {
        let mut messages = Messages::default();
        for child in self.node.children() {
            let mut of_child = [0; 2];
            messages.receive(self.channel(), child, bytes(&mut of_child));
            words[0] &= of_child[0];
        }
        if let Some(parent) = self.node.parent() {
            messages.send(self.channel(), parent, bytes(words));
        }
        messages.take_error().is_none()
    }
}

fn bytes(words: &mut [u64; 2]) -> Buffer {
    // SAFETY: the words outlive the message, which is complete when its function returns.
    unsafe { Buffer::bytes(words.as_mut_ptr().cast(), size_of_val(words)) }
}
