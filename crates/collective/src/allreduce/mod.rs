//! `MPI_Allreduce`.

mod doubling;
mod scattered;

pub(super) use doubling::allreduce as by_doubling;

use super::conversation::Conversation;
use super::elements::{Part, check_distinct};
use super::reduction::{Accumulator, Reduction};
use super::switch_points::ALLREDUCE_SCATTERED_BYTES;
use super::tag;
use heddle_comm::CommRef;
use heddle_comm::error::Result;

/// Combines the data of all ranks everywhere. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn allreduce(
    comm: &CommRef,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
) -> Result<()> {
    let mut talk = Conversation::new(comm, tag::ALLREDUCE);
    if let Some(send) = send {
        check_distinct(&send, &receive)?;
        talk.copy(&send.buffer(), &receive.buffer());
    }
    if comm.size() == 1 {
        return talk.finish();
    }
    let count = receive.count;
    let spare = reduction.temporary(count)?;
    let mut vector = Accumulator { reduction, result: receive.elements, spare: spare.elements(), count };
    let scattered = reduction.commutes()
        && receive.len() >= ALLREDUCE_SCATTERED_BYTES
        && count >= comm.size() as i64
        && comm.size() > 2;
    if scattered {
        scattered::allreduce(&mut talk, &mut vector);
    } else {
        by_doubling(&mut talk, &mut vector);
        vector.deliver(&mut talk, receive.elements);
    }
    talk.finish()
}
