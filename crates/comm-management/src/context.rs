//! How the members of a new communicator learn its context: the leader makes it and tells the others along a
//! binomial tree, 8 bytes in ⌈log₂ n⌉ steps. If the program has given hints, the leader first hears along the
//! same tree what they all want ([`agreed`]).
//!
//! The messages travel on the parent. All callers are members of the new group, and two members see the calls
//! that concern both in the same order (the standard demands it, or tells the calls apart by a tag). Messages
//! between two processes do not overtake, so no message of one creation is mistaken for one of another.

use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::context::{UNKNOWN, VniChoice, known};
use heddle_message::domain::Domain;
use heddle_p2p::{Mode, recv, send};
use heddle_spec::constants as mpi;

/// Where the messages of a creation travel: a plane of the parent, and a tag.
pub(crate) type Channel = (Plane, i32);

/// Tags of creations on the collective plane, away from those of collective operations.
pub(crate) mod tag {
    pub(crate) const CONTEXT: i32 = 0x1000;
    pub(crate) const IDUP: i32 = 0x1001;
    pub(crate) const SPLIT: i32 = 0x1002;
    pub(crate) const CHOICE: i32 = 0x1003;
    pub(crate) const IDUP_CHOICE: i32 = 0x1004;
    pub(crate) const IDUP_AGREED: i32 = 0x1005;
    pub(crate) const INTER: i32 = 0x1006;
}

/// The channel of collective creations.
pub(crate) const COLLECTIVE: Channel = (Plane::Collective, tag::CONTEXT);

/// The hints that all members of a communicator agree on for a duplicate; valid at its
/// rank 0 only. Collective.
pub(crate) fn agreed(parent: &CommRef, mine: VniChoice) -> Result<VniChoice> {
    let (rank, size) = (parent.rank(), parent.size());
    let mut choice = mine;
    let mut distance = 1;
    while distance < size {
        let mut word = choice.to_word().to_ne_bytes();
        // SAFETY: the array outlives the calls, which return when the data has been sent or received.
        let buffer = unsafe { Buffer::bytes(word.as_mut_ptr(), word.len()) };
        if rank & distance != 0 {
            let to = (rank - distance) as i32;
            send(parent, Plane::Collective, buffer, to, tag::CHOICE, Mode::Standard)?;
            break;
        }
        if rank + distance < size {
            let from = (rank + distance) as i32;
            received(recv(parent, Plane::Collective, buffer, from, tag::CHOICE)?.error)?;
            choice = choice.agreed(VniChoice::from_word(u64::from_ne_bytes(word)));
        }
        distance *= 2;
    }
    Ok(choice)
}

/// The context of a new communicator of `group`, in which this process has rank `rank`. All members call it;
/// the choice of the leader, rank 0, takes effect.
///
/// # Errors
/// `MPI_ERR_OTHER`, in all members, if the leader has no number left for a context.
pub(crate) fn agree(
    domain: &Domain,
    parent: &CommRef,
    group: &Group,
    rank: usize,
    (plane, tag): Channel,
    choice: VniChoice,
) -> Result<u64> {
    let size = group.size();
    let in_parent = |rank: usize| {
        let world = group.world_rank(rank);
        world.and_then(|world| parent.group.rank_of(world)).map_or(mpi::MPI_PROC_NULL, |rank| rank as i32)
    };
    let mut word = [0; 8];
    let mut distance = if rank == 0 { size.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    if rank == 0 {
        // The others wait for the leader's word, so it says that there is no context, too.
        word = domain.new_context(choice).unwrap_or(UNKNOWN).to_ne_bytes();
    } else {
        // SAFETY: the array outlives the call, which returns when the message has arrived.
        let buffer = unsafe { Buffer::bytes(word.as_mut_ptr(), word.len()) };
        received(recv(parent, plane, buffer, in_parent(rank - distance), tag)?.error)?;
    }
    while distance > 1 {
        distance /= 2;
        if rank + distance < size {
            // SAFETY: the array outlives the call, which returns when the data has been sent.
            let buffer = unsafe { Buffer::bytes(word.as_mut_ptr(), word.len()) };
            send(parent, plane, buffer, in_parent(rank + distance), tag, Mode::Standard)?;
        }
    }
    known(u64::from_ne_bytes(word))
}

/// Turns the error of a receive's outcome into one of the call.
pub(crate) fn received(error: Option<Error>) -> Result<()> {
    error.map_or(Ok(()), Err)
}
