//! Splitting: every process names a colour and a key; those of one colour become a
//! communicator, ordered by key.
//!
//! All colours and keys go to all members in ⌈log₂ n⌉ steps, each with twice the data (Bruck, Ho,
//! Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications", 1997,
//! doi:10.1109/71.642949, section 4). Then each process knows the members of its own communicator, and
//! that one's leader makes the context.

use crate::context::{COLLECTIVE, received, tag};
use crate::create::made;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::info::Entries;
use heddle_comm::process_sets;
use heddle_comm::{CommRef, Plane, choice_of};
use heddle_message::buffer::Buffer;
use heddle_message::context::VniChoice;
use heddle_message::domain::{self, Domain};
use heddle_p2p::sendrecv;
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// A process's contribution to a split.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wish {
    pub(crate) colour: i32,
    pub(crate) key: i32,
    /// The meaning of the hints for the VNIs.
    pub(crate) choice: u64,
}

/// Checks a colour.
///
/// # Errors
/// `MPI_ERR_ARG` if it is negative and not `MPI_UNDEFINED`.
pub(crate) fn check_colour(colour: i32) -> Result<()> {
    if colour < 0 && colour != mpi::MPI_UNDEFINED {
        let message = format!("{colour} is not a colour: colours are 0 or more, or MPI_UNDEFINED");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    Ok(())
}

/// The part of a communicator with one group that has the caller's colour; `MPI_COMM_NULL` for the colour
/// `MPI_UNDEFINED`.
///
/// # Errors
/// Those of the messages; `MPI_ERR_OTHER` if the leader has no number left for a context.
pub(crate) fn split(comm: &CommRef, colour: i32, key: i32, hints: &Entries) -> Result<usize> {
    let mine = choice_of(hints, domain::current()?.vnis().len());
    let wishes = gather(comm, Wish { colour, key, choice: mine.to_word() })?;
    if colour == mpi::MPI_UNDEFINED {
        return Ok(mpi::MPI_COMM_NULL);
    }
    let world = |rank: usize| comm.group.world_rank(rank).map(|world| world as u32);
    let ranks = members(&wishes, colour);
    let choices = ranks.iter().map(|&rank| VniChoice::from_word(wishes[rank].choice));
    let choice = choices.reduce(VniChoice::agreed).unwrap_or_default();
    let group = Group::from_world_ranks(ranks.into_iter().filter_map(world).collect());
    made(comm, &Arc::new(group), COLLECTIVE, choice, |new| new.take_hints(hints))
}

/// The ranks of one colour, in the order of their keys; equal keys keep the old order.
pub(crate) fn members(wishes: &[Wish], colour: i32) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..wishes.len()).filter(|&rank| wishes[rank].colour == colour).collect();
    ranks.sort_by_key(|&rank| wishes[rank].key);
    ranks
}

/// The wishes of all, by rank.
pub(crate) fn gather(comm: &CommRef, mine: Wish) -> Result<Vec<Wish>> {
    let (rank, size) = (comm.rank(), comm.size());
    // Entry i belongs to the rank that follows this one at distance i.
    let mut wishes = vec![Wish::default(); size];
    wishes[0] = mine;
    let mut known = 1;
    while known < size {
        let count = known.min(size - known);
        let (to, from) = ((rank + size - known) % size, (rank + known) % size);
        let (ours, theirs) = wishes.split_at_mut(known);
        let bytes = count * size_of::<Wish>();
        // SAFETY: the wishes outlive the call, which returns when both messages are complete.
        let outgoing = unsafe { Buffer::bytes(ours.as_mut_ptr().cast(), bytes) };
        // SAFETY: the wishes outlive the call, which returns when both messages are complete; there are
        // at least `count` entries.
        let incoming = unsafe { Buffer::bytes(theirs.as_mut_ptr().cast(), bytes) };
        let outcome = sendrecv(
            comm,
            Plane::Collective,
            (outgoing, to as i32, tag::SPLIT),
            (incoming, from as i32, tag::SPLIT),
        )?;
        received(outcome.error)?;
        known += count;
    }
    wishes.rotate_right(rank);
    Ok(wishes)
}

/// The hint that names a resource of the machine.
const RESOURCE: &str = "mpi_hw_resource_type";
/// The hint that names a set of processes.
const SET: &str = "mpi_pset_name";

/// The colour of this process for `MPI_Comm_split_type`: the lowest rank in `MPI_COMM_WORLD` of those with
/// which it shares memory, which no resource divides further. A process set counts only in a communicator
/// that comes from a session, whose sets they are (MPI 5.0, section 7.4.2).
///
/// # Errors
/// `MPI_ERR_ARG` for a split type that does not exist.
pub(crate) fn colour_of_type(
    domain: &Domain,
    comm: &CommRef,
    split_type: i32,
    hints: &Entries,
) -> Result<i32> {
    let machine = domain.fabric().local_ranks().rank(0) as i32;
    let says = |key: &str| hints.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
    let shares_memory = says(RESOURCE) == Some("mpi_shared_memory");
    Ok(match split_type {
        mpi::MPI_COMM_TYPE_SHARED => machine,
        mpi::MPI_COMM_TYPE_HW_GUIDED | mpi::MPI_COMM_TYPE_RESOURCE_GUIDED if shares_memory => machine,
        mpi::MPI_COMM_TYPE_RESOURCE_GUIDED if comm.session().is_some() => {
            match says(SET).and_then(process_sets::number_of) {
                Some(process_sets::WORLD) => 0,
                Some(_) => domain.rank() as i32,
                None => mpi::MPI_UNDEFINED,
            }
        }
        mpi::MPI_COMM_TYPE_HW_GUIDED
        | mpi::MPI_COMM_TYPE_RESOURCE_GUIDED
        | mpi::MPI_COMM_TYPE_HW_UNGUIDED
        | mpi::MPI_UNDEFINED => mpi::MPI_UNDEFINED,
        other => {
            let message = format!("{other} is not a split type: use one of MPI_COMM_TYPE_… or MPI_UNDEFINED");
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_ordered_by_key_then_rank() {
        let wishes = [(1, 5), (0, -3), (1, -7), (mpi::MPI_UNDEFINED, 0), (1, 5), (1, -7)];
        let wishes = wishes.map(|(colour, key)| Wish { colour, key, choice: 0 });
        assert_eq!(members(&wishes, 1), [2, 5, 0, 4]);
        assert_eq!(members(&wishes, 0), [1]);
        assert_eq!(members(&wishes, 3), [0; 0]);
    }
}
