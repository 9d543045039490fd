//! The operations of intercommunicators: each group sends its data to the other one (MPI 5.0, section 6.2.2).
//!
//! Operations with a root are between the root and the other group; the root calls them with `MPI_ROOT`, the
//! other processes of its group with `MPI_PROC_NULL`. Where the data of a whole group are combined, or all of
//! a group learn something, the group does that by the algorithms of communicators with one group, around its
//! process 0.

use super::arguments::{in_place_not_allowed, no_buffer};
use super::basic::{bcast_by_tree, by_dissemination, reduce_by_tree, scatter_straight};
use super::conversation::Conversation;
use super::data::{Blocks, Elements, Part, Reduction};
use super::messages::tag;
use super::ranks::Circle;
use heddle_comm::error::{Error, Result};
use heddle_message::buffer::Buffer;
use heddle_spec::constants as mpi;

/// The part of a process in an operation with a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// It is the root.
    Here,
    /// Another process of its group is the root, so it has nothing to do.
    Beside,
    /// The root is this process of the other group.
    There(usize),
}

impl Root {
    /// The part of the process that calls with this root.
    ///
    /// # Errors
    /// `MPI_ERR_ROOT`.
    pub(super) fn of(talk: &Conversation<'_>, root: i32) -> Result<Root> {
        match root {
            mpi::MPI_ROOT => Ok(Root::Here),
            mpi::MPI_PROC_NULL => Ok(Root::Beside),
            rank if (rank as usize) < talk.remote_size() => Ok(Root::There(rank as usize)),
            _ => {
                let message = format!(
                    "the root is {root}; for an intercommunicator it is MPI_ROOT, MPI_PROC_NULL, or one of the \
                     {} ranks of the remote group",
                    talk.remote_size()
                );
                Err(Error::new(mpi::MPI_ERR_ROOT, message))
            }
        }
    }
}

#[cold]
fn not_in_place() -> Error {
    in_place_not_allowed("the two groups of an intercommunicator have no data in common")
}

/// Process 0 of the first group tells the other group's process 0 the first of two words; each process 0 then
/// tells its group both.
///
/// # Errors
/// None.
pub fn tell_both_groups(talk: &mut Conversation<'_>, words: Part<'_>, first: bool) -> Result<()> {
    let word = words.elements.buffer(1);
    match (talk.rank(), first) {
        (0, true) => talk.send(0, word),
        (0, false) => talk.receive(0, word),
        _ => {}
    }
    tell_group(talk, &words.buffer());
    Ok(())
}

pub(super) fn barrier_between(talk: &mut Conversation<'_>) {
    talk.within_group(by_dissemination);
    if talk.rank() == 0 {
        talk.exchange((0, Buffer::empty()), (0, Buffer::empty()));
    }
    talk.within_group(by_dissemination);
}

/// Process 0 tells its group.
fn tell_group(talk: &mut Conversation<'_>, data: &Buffer) {
    let circle = Circle { root: 0, size: talk.size() };
    talk.within_group(|talk| bcast_by_tree(talk, data, circle));
}

pub(super) fn bcast_between(talk: &mut Conversation<'_>, data: Part<'_>, root: i32) -> Result<()> {
    let root = Root::of(talk, root)?;
    talk.name(tag::BCAST);
    match root {
        Root::Here => talk.send(0, data.buffer()),
        Root::Beside => {}
        Root::There(rank) => {
            if talk.rank() == 0 {
                talk.receive(rank, data.buffer());
            }
            tell_group(talk, &data.buffer());
        }
    }
    Ok(())
}

/// Gathers at the root if `to_root`, else scatters from there. `one` is the block of a process that talks to
/// the root, `all` are the blocks at the root.
pub(super) fn with_root(
    talk: &mut Conversation<'_>,
    to_root: bool,
    one: Option<Buffer>,
    all: Option<&dyn Blocks>,
    root: i32,
) -> Result<()> {
    match Root::of(talk, root)? {
        Root::Beside => {}
        Root::Here => {
            let all = all.ok_or_else(|| no_buffer(if to_root { "receive" } else { "send" }))?;
            for rank in 0..talk.remote_size() {
                let block = all.block(rank);
                match (block.is_empty(), to_root) {
                    (true, _) => {}
                    (false, true) => talk.begin_receive(rank, block),
                    (false, false) => talk.begin_send(rank, block),
                }
            }
            talk.complete();
        }
        Root::There(rank) => {
            let block = one.ok_or_else(not_in_place)?;
            match (block.is_empty(), to_root) {
                (true, _) => {}
                (false, true) => talk.send(rank, block),
                (false, false) => talk.receive(rank, block),
            }
        }
    }
    Ok(())
}

/// Every process sends a block to each of the other group, and receives one from each.
pub(super) fn all_to_all(
    talk: &mut Conversation<'_>,
    outgoing: Option<impl Fn(usize) -> Buffer>,
    incoming: &dyn Blocks,
) -> Result<()> {
    let outgoing = outgoing.ok_or_else(not_in_place)?;
    for rank in 0..talk.remote_size() {
        let block = incoming.block(rank);
        if !block.is_empty() {
            talk.begin_receive(rank, block);
        }
    }
    for rank in 0..talk.remote_size() {
        let block = outgoing(rank);
        if !block.is_empty() {
            talk.begin_send(rank, block);
        }
    }
    talk.complete();
    Ok(())
}

/// The data of the group combined at its process 0, in the order of ranks.
fn combined<'d>(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'d>,
    send: Part<'d>,
) -> Result<Elements<'d>> {
    let elements = talk.vector(reduction, send.count)?;
    let destination = (talk.rank() == 0).then_some(elements);
    let circle = Circle { root: 0, size: talk.size() };
    talk.within_group(|talk| reduce_by_tree(talk, reduction, send, destination, circle))?;
    Ok(elements)
}

pub(super) fn reduce_between(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Option<Part<'_>>,
    root: i32,
) -> Result<()> {
    match Root::of(talk, root)? {
        Root::Beside => {}
        Root::Here => {
            let receive = receive.ok_or_else(|| no_buffer("receive"))?;
            talk.name(tag::REDUCE);
            talk.receive(0, receive.buffer());
        }
        Root::There(rank) => {
            let send = send.ok_or_else(not_in_place)?;
            let combined = combined(talk, reduction, send)?;
            talk.name(tag::REDUCE);
            if talk.rank() == 0 {
                talk.send(rank, combined.buffer(send.count));
            }
        }
    }
    Ok(())
}

pub(super) fn allreduce_between(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
) -> Result<()> {
    let send = send.ok_or_else(not_in_place)?;
    let combined = combined(talk, reduction, send)?;
    talk.name(tag::ALLREDUCE);
    if talk.rank() == 0 {
        talk.exchange((0, combined.buffer(send.count)), (0, receive.buffer()));
    }
    tell_group(talk, &receive.buffer());
    Ok(())
}

/// The other group's combined vector, in blocks for the ranks of this one.
struct Shares<'a> {
    vector: Elements<'a>,
    starts: &'a [i64],
}

impl Blocks for Shares<'_> {
    fn block(&self, rank: usize) -> Buffer {
        self.vector.at(self.starts[rank]).buffer(self.starts[rank + 1] - self.starts[rank])
    }
}

pub(super) fn reduce_scatter_between(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
    starts: &[i64],
) -> Result<()> {
    let send = send.ok_or_else(not_in_place)?;
    let combined = combined(talk, reduction, send)?;
    let vector = talk.vector(reduction, send.count)?;
    talk.name(tag::REDUCE_SCATTER);
    if talk.rank() == 0 {
        talk.exchange((0, combined.buffer(send.count)), (0, vector.buffer(send.count)));
    }
    let shares = Shares { vector, starts };
    let blocks = (talk.rank() == 0).then_some(&shares as &dyn Blocks);
    talk.within_group(|talk| scatter_straight(talk, blocks, Some(receive.buffer()), 0));
    Ok(())
}
