//! `MPI_Gather` and `MPI_Gatherv`.

mod blackboard;
mod exposed;
mod linear;
mod tree;

use super::arguments::{check_root, in_place_not_allowed, no_buffer};
use super::basic::{OfTwo, Ways};
use super::between_groups::with_root;
use super::choices::choices;
use super::conversation::Conversation;
use super::data::{Blocks, Part, Parts};
use super::messages::tag;
use super::ranks::Circle;
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_settings::{Algorithm, CollectiveOperation};

/// How blocks come to the root, for ranks that wait long.
const PUBLISHED: usize = 1;
const EXPOSED: usize = 2;
const BY_TREE: usize = 3;
const STRAIGHT: usize = 4;

/// Brings a block of each rank to the root. `send` is `None` for `MPI_IN_PLACE`, `receive`
/// counts at the root only.
///
/// # Errors
/// `MPI_ERR_ROOT`, `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` if a rank sends more than the root expects, with
/// `HEDDLE_STRICT` `MPI_ERR_COUNT` if less.
pub fn gather(
    talk: &mut Conversation<'_>,
    send: Option<Part<'_>>,
    receive: Option<Part<'_>>,
    root: i32,
) -> Result<()> {
    talk.take_less();
    if talk.is_between_groups() {
        talk.name(tag::GATHER);
        let all = receive.as_ref().map(|part| part as &dyn Blocks);
        return with_root(talk, true, send.map(|part| part.buffer()), all, root);
    }
    let circle = Circle { root: check_root(talk.comm(), root)?, size: talk.size() };
    let receive =
        if talk.rank() == circle.root { Some(receive.ok_or_else(|| no_buffer("receive"))?) } else { None };
    let send = match (send, &receive) {
        (Some(send), Some(receive)) => Some(talk.apart(send, receive, 1)?),
        (send, _) => send,
    };
    let blocks = receive.as_ref().map(|part| part as &dyn Blocks);
    let Some(block_len) = send.or(receive).map(|part| part.len()) else {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    };
    let send = match (send, blocks) {
        (Some(send), _) => Some(send.buffer()),
        (None, Some(_)) => None,
        (None, None) => return Err(in_place_not_allowed("only the root's data can be in place")),
    };
    let choices = choices();
    let choice = choices.algorithm(CollectiveOperation::Gather, talk.size(), || block_len);
    // Ranks may give less than expected, but not in different ways.
    talk.name(tag::GATHER);
    talk.note_unless_of_two(choice as usize);
    if let Some(ways) = ways_of_two(talk, choice) {
        return of_two(talk, send, receive.as_ref(), circle.root, ways);
    }
    // In recorded steps of two ranks both copy a long block, in a message.
    let exposes = talk.size() > 2 || choice == Algorithm::Blackboard;
    let fits = |limits: &Limits| block_len <= limits.bytes || exposes && limits.takes(block_len);
    if let Some(limits) = talk.limits(choice).filter(fits) {
        let way = if block_len > limits.bytes { EXPOSED } else { PUBLISHED };
        talk.note_unless_of_two(way);
        if block_len > limits.bytes {
            return exposed::gather(talk, send, (receive, block_len), circle.root);
        }
        blackboard::gather(talk, send, blocks, (circle.root, limits))?;
        return Ok(());
    }
    let by_tree = match choice {
        Algorithm::Linear => false,
        Algorithm::Binomial => true,
        _ => block_len < choices.gather_linear_bytes,
    };
    let way = if by_tree { BY_TREE } else { STRAIGHT };
    talk.note_unless_of_two(way);
    if by_tree {
        tree::gather(talk, send, block_len, blocks, circle)?;
    } else {
        linear::gather(talk, send, blocks, circle.root);
    }
    Ok(())
}

/// In which ways two ranks give; `None` if they are not two, or have no blackboard, or if the steps are
/// recorded: then the root could not learn how much it is given, which may be less than it expects.
#[inline(always)]
fn ways_of_two(talk: &Conversation<'_>, choice: Algorithm) -> Option<Ways> {
    if talk.size() != 2 || talk.is_recorded() {
        return None;
    }
    talk.limits(choice).map(|limits| Ways::new(limits, choice, choices().gather_parts_bytes, true))
}

/// Between two ranks.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
#[inline(always)]
fn of_two(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    receive: Option<&(impl Blocks + ?Sized)>,
    root: usize,
    ways: Ways,
) -> Result<()> {
    let both = match receive {
        Some(receive) => OfTwo {
            leaves: None,
            arrives: Some(receive.block(1 - root)),
            own: send.map(|send| (send, receive.block(root))),
        },
        None => OfTwo { leaves: send, arrives: None, own: None },
    };
    both.carry_out(talk, ways).map(|_| ())
}

/// Brings a block of each rank to the root, which says how large they are and where they go.
///
/// # Errors
/// The same as for [`gather`].
pub fn gatherv(
    talk: &mut Conversation<'_>,
    send: Option<Part<'_>>,
    receive: Option<Parts<'_>>,
    root: i32,
) -> Result<()> {
    talk.take_less();
    if talk.is_between_groups() {
        talk.name(tag::GATHER);
        let all = receive.as_ref().map(|parts| parts as &dyn Blocks);
        return with_root(talk, true, send.map(|part| part.buffer()), all, root);
    }
    let root = check_root(talk.comm(), root)?;
    let receive = if talk.rank() == root { Some(receive.ok_or_else(|| no_buffer("receive"))?) } else { None };
    if send.is_none() && receive.is_none() {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    }
    talk.name(tag::GATHER);
    talk.note(0);
    let send = send.map(|part| part.buffer());
    let send = match (send, &receive) {
        (Some(send), Some(blocks)) => Some(talk.buffer_apart(send, blocks)?),
        (send, _) => send,
    };
    if let Some(ways) = ways_of_two(talk, choices().gather) {
        return of_two(talk, send, receive.as_ref(), root, ways);
    }
    gather_blocks(talk, send, receive.as_ref().map(|parts| parts as &dyn Blocks), root)
}

/// Brings the blocks of all ranks that act now to the root, which knows how long they are.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn gather_blocks(
    talk: &mut Conversation<'_>,
    send: Option<Buffer>,
    blocks: Option<&dyn Blocks>,
    root: usize,
) -> Result<()> {
    // The ranks do not know how long the blocks of the others are.
    if let Some(limits) = talk.limits(choices().gather).filter(Limits::takes_all) {
        return blackboard::gather(talk, send, blocks, (root, limits));
    }
    linear::gather(talk, send, blocks, root);
    Ok(())
}
