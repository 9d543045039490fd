//! A communicator gets its blackboard by its first blocking operations, or by its first persistent one: rank
//! 0 allocates it, and tells the others where it is. If one of them cannot map it, or must not
//! (`HEDDLE_BLACKBOARDS`), all of them go on with messages. Then all say on it whether data may be exposed.
//!
//! Processes on different machines share no memory. Those of each machine agree on a blackboard of their own.

use super::machines::{machines, share_memory};
use super::rounds::Rounds;
use super::step::{RoundStep, Source};
use crate::messages::{Channel, Message, Messages, tag};
use crate::ranks::Binomial;
use heddle_blackboard::{Blackboard, Span};
use heddle_comm::CommRef;
use heddle_message::buffer::Buffer;
use heddle_message::domain::{self, Domain};
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
        decide(comm);
    }
    comm.blackboard.get()
}

#[cold]
#[inline(never)]
fn establish(comm: &CommRef) -> Option<&Blackboard> {
    if comm.operations.next_blocking() < OPERATIONS_BEFORE {
        return None;
    }
    decide(comm);
    comm.blackboard.get()
}

/// Lets the communicator have a blackboard, machines with a blackboard each, or neither.
fn decide(comm: &CommRef) {
    let blackboard = domain::running().and_then(|domain| {
        let all = Members { comm, ranks: None, rank: comm.rank(), size: comm.size() };
        if share_memory(all.processes(), domain) {
            return agree(all, domain);
        }
        let machines = Box::new(machines(comm, domain)?);
        let ranks = machines.members();
        let here = Members { ranks: Some(ranks), rank: machines.own_position(), size: ranks.len(), ..all };
        // Containers may divide what the launcher takes for a machine.
        if ranks.len() > 1 && share_memory(here.processes(), domain) {
            machines.blackboard.decide(agree(here, domain));
        }
        // Only an erroneous program has two operations at once that decide.
        let _ = comm.machines.set(machines);
        None
    });
    comm.blackboard.decide(blackboard);
}

/// The ranks of a communicator that share a machine.
#[derive(Debug, Clone, Copy)]
struct Members<'a> {
    comm: &'a CommRef,
    /// Their ranks in the communicator; `None` if they are all of its ranks.
    ranks: Option<&'a [u32]>,
    /// This process's rank among them.
    rank: usize,
    size: usize,
}

impl Members<'_> {
    fn rank_in_communicator(self, rank: usize) -> usize {
        self.ranks.map_or(rank, |ranks| ranks[rank] as usize)
    }

    /// Their ranks in the job.
    fn processes(self) -> Vec<u32> {
        match self.ranks {
            None => self.comm.group.world_ranks(),
            Some(ranks) => ranks
                .iter()
                .filter_map(|&rank| self.comm.group.world_rank(rank as usize))
                .map(|world| world as u32)
                .collect(),
        }
    }
}

fn agree(members: Members<'_>, domain: &'static Domain) -> Option<Blackboard> {
    let tree = Tree { members, node: Binomial::new(members.rank, members.size) };
    let mut place = [0u64; 2];
    let mut blackboard = None;
    let may = domain.may_have_blackboards();
    if members.rank == 0 && may {
        blackboard = Blackboard::allocate(domain, 0, members.processes()).ok();
        if let Some(range) = blackboard.as_ref().and_then(Blackboard::range) {
            place = [range.offset, range.len];
        }
    }
    let is_there = tree.down(&mut place) && place[1] != 0;
    if is_there && members.rank != 0 && may {
        let range = SharedRange { offset: place[0], len: place[1] };
        blackboard = Blackboard::map(domain, members.rank, members.processes(), range).ok();
    }
    let works = blackboard.is_some();
    let mut all = [u64::from(works), 0];
    let works = tree.up(&mut all) & tree.down(&mut all);
    let mut blackboard = blackboard.filter(|_| works && all[0] == 1)?;
    blackboard.set_owner(members.comm.vni(), members.comm.handle());
    if let Some(ranks) = members.ranks {
        blackboard.set_ranks(ranks);
    }
    let [all_reach_all, each_has_a_core] = said_by_all(members, &blackboard);
    if all_reach_all {
        blackboard.allow_exposing();
    }
    if each_has_a_core {
        blackboard.note_cores();
    }
    Some(blackboard)
}

/// Asks all processes whether they can copy from the memory of all others, and whether they may have a core
/// each: true if all say so, and all get the same answer. It is the first round of the blackboard, and all
/// processes are there.
fn said_by_all(Members { comm, rank: own, size, .. }: Members<'_>, blackboard: &Blackboard) -> [bool; 2] {
    let rounds = Rounds { comm, blackboard, first: blackboard.begin(1), operation: tag::BLACKBOARD };
    let mut messages = Messages::default();
    let mut all = [blackboard.reaches_all(), blackboard.has_cores()];
    let mut answer = all.map(u64::from);
    let buffer = bytes(&mut answer);
    rounds.carry_out(comm.vni(), &RoundStep::Publish(0, buffer, Span::of(&buffer), None), &mut messages);
    for rank in (0..size).filter(|&rank| rank != own) {
        let mut answer = [0_u64; 2];
        let room = bytes(&mut answer);
        let source = Source { round: 0, rank, whole: room.len(), offset: 0 };
        rounds.carry_out(comm.vni(), &RoundStep::Fetch(source, room, Span::of(&room)), &mut messages);
        for (all, answer) in all.iter_mut().zip(answer) {
            *all &= answer == 1;
        }
    }
    rounds.carry_out(comm.vni(), &RoundStep::Finish(0), &mut messages);
    let came = messages.take_error().is_none();
    all.map(|all| all && came)
}

/// The tree of messages by which the processes agree.
#[derive(Debug)]
struct Tree<'a> {
    members: Members<'a>,
    node: Binomial,
}

impl Tree<'_> {
    fn send(&self, messages: &mut Messages, to: usize, words: &mut [u64; 2]) {
        let message = Message::Send(self.members.rank_in_communicator(to), bytes(words));
        messages.carry_out(Channel { comm: self.members.comm, tag: tag::BLACKBOARD }, message);
    }

    fn receive(&self, messages: &mut Messages, from: usize, words: &mut [u64; 2]) {
        let message = Message::Receive(self.members.rank_in_communicator(from), bytes(words));
        messages.carry_out(Channel { comm: self.members.comm, tag: tag::BLACKBOARD }, message);
    }

    /// Gives all processes the words of rank 0. Returns false if a message has failed.
    fn down(&self, words: &mut [u64; 2]) -> bool {
        let mut messages = Messages::default();
        if let Some(parent) = self.node.parent() {
            self.receive(&mut messages, parent, words);
        }
        for child in self.node.children().rev() {
            self.send(&mut messages, child, words);
        }
        messages.take_error().is_none()
    }

    /// Gives rank 0 a 1 in the first word if all processes have one. Returns false if a message has failed.
    fn up(&self, words: &mut [u64; 2]) -> bool {
        let mut messages = Messages::default();
        for child in self.node.children() {
            let mut of_child = [0_u64; 2];
            self.receive(&mut messages, child, &mut of_child);
            words[0] &= of_child[0];
        }
        if let Some(parent) = self.node.parent() {
            self.send(&mut messages, parent, words);
        }
        messages.take_error().is_none()
    }
}

/// The bytes of whole numbers, which a message or the blackboard takes before the caller goes on.
fn bytes<N: Copy>(numbers: &mut [N]) -> Buffer {
    // SAFETY: the numbers outlive the message, which is complete when its function returns.
    unsafe { Buffer::bytes(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}
