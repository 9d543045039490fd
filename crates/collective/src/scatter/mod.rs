//! `MPI_Scatter` and `MPI_Scatterv`.

mod blackboard;
mod tree;

use super::arguments::{check_root, in_place_not_allowed, no_buffer};
use super::basic::{OfTwo, Ways, scatter_straight};
use super::between_groups::with_root;
use super::choices::choices;
use super::conversation::Conversation;
use super::data::{Blocks, Part, Parts};
use super::messages::tag;
use super::ranks::{Circle, published};
use heddle_blackboard::BlockTable;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_settings::{Algorithm, CollectiveOperation};

/// Up to so many ranks get short blocks by messages even if each has a core. A copy by the kernel takes three
/// to four times as long as one from mapped memory, of which the root makes one per rank.
const FEW: usize = 4;

/// Gives each rank its block of the root's data. `send` counts at the root only; `receive` is `None` for
/// `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_ROOT`, `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn scatter(
    talk: &mut Conversation<'_>,
    send: Option<Part<'_>>,
    receive: Option<Part<'_>>,
    root: i32,
) -> Result<()> {
    if talk.is_between_groups() {
        talk.name(tag::SCATTER);
        let all = send.as_ref().map(|blocks| blocks as &dyn Blocks);
        return with_root(talk, false, receive.map(|part| part.buffer()), all, root);
    }
    let circle = Circle { root: check_root(talk.comm(), root)?, size: talk.size() };
    let send = if talk.rank() == circle.root { Some(send.ok_or_else(|| no_buffer("send"))?) } else { None };
    let send = match (send, &receive) {
        (Some(send), Some(receive)) => Some(talk.apart(send, receive, circle.size)?),
        (send, _) => send,
    };
    let Some(block_len) = receive.or(send).map(|part| part.len()) else {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    };
    talk.name(tag::SCATTER);
    talk.note_unless_of_two(block_len);
    let blocks = send.as_ref().map(|part| part as &dyn Blocks);
    let receive = receive.map(|part| part.buffer());
    let whole = block_len * published(circle.root, talk.size()).len();
    let choices = choices();
    let choice = choices.algorithm(CollectiveOperation::Scatter, talk.size(), || block_len);
    if let Some(limits) = talk.limits(choice) {
        let ways = Ways::new(limits, choice, choices.scatter_parts_bytes, true);
        if talk.size() == 2 && of_two(talk, send.as_ref(), receive, circle.root, ways)? {
            return Ok(());
        }
        // Ranks that share cores copy short blocks one after the other, and the root waits for all.
        let copy_at_once = limits.each_has_a_core && talk.size() > FEW;
        let is_long = block_len >= choices.scatter_exposed_bytes || copy_at_once;
        let exposes = talk.size() > 2 && is_long || choice == Algorithm::Blackboard;
        if whole <= limits.bytes || exposes && limits.takes(whole) {
            return blackboard::scatter(talk, send, (receive, block_len), (circle.root, limits));
        }
    }
    let by_tree = match choice {
        Algorithm::Linear => false,
        Algorithm::Binomial => true,
        _ => block_len < choices.scatter_linear_bytes,
    };
    if by_tree {
        tree::scatter(talk, blocks, block_len, receive, circle)?;
    } else {
        scatter_straight(talk, blocks, receive, circle.root);
    }
    Ok(())
}

/// Between two ranks. Returns false if it is recorded and the block is long; then nothing has happened.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
#[inline(always)]
fn of_two(
    talk: &mut Conversation<'_>,
    send: Option<&(impl Blocks + ?Sized)>,
    receive: Option<Buffer>,
    root: usize,
    ways: Ways,
) -> Result<bool> {
    let both = match send {
        Some(send) => OfTwo {
            leaves: Some(send.block(1 - root)),
            arrives: None,
            own: receive.map(|receive| (send.block(root), receive)),
        },
        None => OfTwo { leaves: None, arrives: receive, own: None },
    };
    both.carry_out(talk, ways)
}

/// Gives each rank its block of the root's data; the root says how large they are and where they lie.
///
/// # Errors
/// The same as for [`scatter`]; `MPI_ERR_COUNT` with `HEDDLE_STRICT` only.
pub fn scatterv(
    talk: &mut Conversation<'_>,
    send: Option<Parts<'_>>,
    receive: Option<Part<'_>>,
    root: i32,
) -> Result<()> {
    talk.take_less();
    if talk.is_between_groups() {
        talk.name(tag::SCATTER);
        let all = send.as_ref().map(|blocks| blocks as &dyn Blocks);
        return with_root(talk, false, receive.map(|part| part.buffer()), all, root);
    }
    let root = check_root(talk.comm(), root)?;
    let send = if talk.rank() == root { Some(send.ok_or_else(|| no_buffer("send"))?) } else { None };
    if send.is_none() && receive.is_none() {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    }
    talk.name(tag::SCATTER);
    talk.note(0);
    let receive = receive.map(|part| part.buffer());
    let copied = match (&send, receive) {
        (Some(send), Some(receive)) => talk.blocks_apart(send, |_| receive)?,
        _ => None,
    };
    let (size, choices) = (talk.size(), choices());
    let limits = talk.limits(choices.scatter);
    if let (Some(limits), 2, false) = (limits, size, talk.is_recorded()) {
        let ways = Ways::new(limits, choices.scatter, choices.scatter_parts_bytes, true);
        match &copied {
            None => of_two(talk, send.as_ref(), receive, root, ways),
            copied => of_two(talk, copied.as_ref(), receive, root, ways),
        }?;
        return Ok(());
    }
    let blocks = send.as_ref().map(|parts| parts as &dyn Blocks);
    let blocks = copied.as_ref().map(|blocks| blocks as &dyn Blocks).or(blocks);
    if let Some(limits) = limits {
        // The other ranks do not know how long the blocks are.
        if BlockTable::fits(size, &limits) {
            return blackboard::scatterv(talk, blocks, receive, (root, limits));
        }
    }
    scatter_straight(talk, blocks, receive, root);
    Ok(())
}
