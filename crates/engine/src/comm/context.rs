//! How the members of a new communicator learn its context: the leader makes it and tells the others along a binomial
//! tree, 8 bytes in ⌈log₂ n⌉ steps.
//!
//! The messages travel on the parent. Whoever calls is a member of the new group, and every two members see the calls
//! that concern both in the same order (the standard demands it, or tells the calls apart by a tag); since messages
//! between two processes do not overtake, no message of one creation is taken for one of another.

use super::{CommRef, Plane};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::p2p::{Mode, recv, send};
use crate::process::Process;
use heddle_spec::constants as mpi;

/// Where the messages of a creation travel: a plane of the parent, and a tag.
pub(super) type Channel = (Plane, i32);

/// Tags of creations on the collective plane, away from those of collective operations.
pub(super) mod tag {
    pub(in super::super) const CONTEXT: i32 = 0x1000;
    pub(in super::super) const IDUP: i32 = 0x1001;
    pub(in super::super) const SPLIT: i32 = 0x1002;
}

/// The channel of collective creations.
pub(super) const COLLECTIVE: Channel = (Plane::Collective, tag::CONTEXT);

/// The context of a new communicator of `group`, in which this process has rank `rank`. All members call it.
pub(super) fn agree(
    process: &Process,
    parent: &CommRef,
    group: &Group,
    rank: usize,
    (plane, tag): Channel,
) -> Result<u64> {
    let size = group.size();
    let in_parent = |rank: usize| {
        let world = group.world_rank(rank);
        world.and_then(|world| parent.group.rank_of(world)).map_or(mpi::MPI_PROC_NULL, |rank| rank as i32)
    };
    let mut word = [0; 8];
    let mut distance = if rank == 0 { size.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    if rank == 0 {
        word = process.new_context().to_ne_bytes();
    } else {
        // SAFETY: the array outlives the call, which returns when the message is there.
        let buffer = unsafe { Buffer::bytes(word.as_mut_ptr(), word.len()) };
        received(recv(parent, plane, buffer, in_parent(rank - distance), tag)?.error)?;
    }
    while distance > 1 {
        distance /= 2;
        if rank + distance < size {
            // SAFETY: the array outlives the call, which returns when the data was taken.
            let buffer = unsafe { Buffer::bytes(word.as_mut_ptr(), word.len()) };
            send(parent, plane, buffer, in_parent(rank + distance), tag, Mode::Standard)?;
        }
    }
    Ok(u64::from_ne_bytes(word))
}

/// Turns the error of a receive's outcome into one of the call.
pub(super) fn received(error: Option<Error>) -> Result<()> {
    error.map_or(Ok(()), Err)
}
