//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw`.

mod batch;
mod bruck;
mod in_place;
mod pairwise;

use super::conversation::Conversation;
use super::elements::{Blocks, Part, Parts, TypedParts, check_distinct};
use super::switch_points::{ALLTOALL_BATCH_BYTES, ALLTOALL_BRUCK_BYTES, ALLTOALL_BRUCK_RANKS};
use super::tag;
use heddle_comm::CommRef;
use heddle_comm::error::Result;

/// Sends a block to each rank and receives a block from each. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn alltoall(comm: &CommRef, send: Option<Part<'_>>, receive: Part<'_>) -> Result<()> {
    if let Some(send) = &send {
        check_distinct(send, &receive)?;
        if receive.len() <= ALLTOALL_BRUCK_BYTES && comm.size() >= ALLTOALL_BRUCK_RANKS {
            let mut talk = Conversation::new(comm, tag::ALLTOALL);
            bruck::alltoall(&mut talk, send, &receive, receive.len())?;
            return talk.finish();
        }
    }
    run(comm, send.as_ref().map(|part| part as &dyn Blocks), &receive)
}

/// Sends a block to each rank and receives a block from each; the blocks may differ in size and lie anywhere.
///
/// # Errors
/// The same as for [`alltoall`].
pub fn alltoallv(comm: &CommRef, send: Option<Parts<'_>>, receive: Parts<'_>) -> Result<()> {
    run(comm, send.as_ref().map(|parts| parts as &dyn Blocks), &receive)
}

/// Sends a block to each rank and receives a block from each; the blocks may differ in datatype.
///
/// # Errors
/// The same as for [`alltoall`].
pub fn alltoallw(comm: &CommRef, send: Option<TypedParts<'_>>, receive: TypedParts<'_>) -> Result<()> {
    run(comm, send.as_ref().map(|parts| parts as &dyn Blocks), &receive)
}

/// Every algorithm here sends one message for each ordered pair of ranks, so two ranks
/// may choose different ones.
fn run(comm: &CommRef, send: Option<&dyn Blocks>, receive: &dyn Blocks) -> Result<()> {
    let mut talk = Conversation::new(comm, tag::ALLTOALL);
    match send {
        None => in_place::alltoall(&mut talk, receive)?,
        Some(send) => {
            talk.copy(&send.block(comm.rank()), &receive.block(comm.rank()));
            let largest = (0..comm.size()).map(|rank| receive.block(rank).len()).max();
            if largest.is_some_and(|len| len <= ALLTOALL_BATCH_BYTES) {
                batch::alltoall(&mut talk, send, receive);
            } else {
                pairwise::alltoall(&mut talk, send, receive);
            }
        }
    }
    talk.finish()
}
