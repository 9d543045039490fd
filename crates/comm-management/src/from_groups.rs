//! Communicators made from groups alone, without a parent (MPI 5.0, sections 7.4.2 and 7.6.2).
//!
//! The messages travel on a communicator of all processes that the program does not see. The program's string
//! tells simultaneous creations apart, as a tag made of it.

use crate::create::made;
use crate::free::free;
use crate::intercomm::{Leaders, connect};
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::info::Entries;
use heddle_comm::{Comm, CommRef, Plane, choice_of};
use heddle_message::context::VniChoice;
use heddle_message::domain;
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// `MPI_Comm_create_from_group`; `MPI_COMM_NULL` for an empty group. `errhandler` is a valid handle.
///
/// # Errors
/// `MPI_ERR_OTHER` if the leader has no number left for a context; `MPI_ERR_SESSION` if the group's session
/// is finalised.
pub fn create_from_group(
    group: &Arc<Group>,
    string: &str,
    hints: &Entries,
    errhandler: usize,
) -> Result<usize> {
    check_session(group)?;
    let choice = choice_of(hints, domain::current()?.vnis().len());
    made(&CommRef::creations()?, group, (Plane::CreateGroup, tag_of(string)), choice, |comm| {
        furnish(comm, hints, errhandler);
    })
}

fn check_session(group: &Group) -> Result<()> {
    group.session().map_or(Ok(()), |session| session.check_live())
}

fn furnish(comm: &Comm, hints: &Entries, errhandler: usize) {
    comm.take_hints(hints);
    comm.errhandler.set(errhandler);
}

/// `MPI_Intercomm_create_from_groups`. The leaders are ranks in the groups; `errhandler` is a valid handle.
///
/// # Errors
/// `MPI_ERR_RANK` for a leader that does not exist; `MPI_ERR_GROUP` if the caller is not in the local group;
/// `MPI_ERR_COMM` if the groups overlap; `MPI_ERR_SESSION` if a group's session is finalised.
pub fn intercomm_create_from_groups(
    (local_group, local_leader): (&Arc<Group>, i32),
    (remote_group, remote_leader): (&Arc<Group>, i32),
    string: &str,
    hints: &Entries,
    errhandler: usize,
) -> Result<usize> {
    check_session(local_group)?;
    check_session(remote_group)?;
    let (domain, creations) = (domain::current()?, CommRef::creations()?);
    let world = |group: &Group, rank: i32| {
        let world = usize::try_from(rank).ok().and_then(|rank| group.world_rank(rank));
        world.ok_or_else(|| {
            let message = format!("there is no rank {rank} in a group of {} processes", group.size());
            Error::new(mpi::MPI_ERR_RANK, message)
        })
    };
    world(local_group, local_leader)?;
    let remote = world(remote_group, remote_leader)?;
    let tag = tag_of(string);
    let handle = made(&creations, local_group, (Plane::CreateGroup, tag), VniChoice::default(), |_| {})?;
    if handle == mpi::MPI_COMM_NULL {
        let message = "this process is not in the local group";
        return Err(Error::new(mpi::MPI_ERR_GROUP, message));
    }
    let local = CommRef::from_handle(handle)?;
    let leaders = Leaders {
        local: &local,
        leader: local_leader as usize,
        remote: Some((&creations, remote as i32)),
        channel: (Plane::CreateInter, tag),
    };
    let new = connect(domain, &creations, &leaders);
    drop(local);
    free(handle)?;
    let new = new?;
    furnish(&new, hints, errhandler);
    Ok(new.handle())
}

/// The tag of the creations with a string: 31 bits of its FNV-1a hash.
fn tag_of(string: &str) -> i32 {
    let hash = string.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ hash >> 32) & 0x7fff_ffff) as i32
}

#[cfg(test)]
mod tests {
    use super::tag_of;
    use std::collections::HashSet;

    #[test]
    fn strings_that_differ_little_have_tags_of_their_own() {
        let tags: HashSet<i32> = (0..10_000).map(|number| tag_of(&format!("org.example.{number}"))).collect();
        assert_eq!(tags.len(), 10_000);
        assert!(tags.iter().all(|tag| *tag >= 0) && tag_of("") >= 0);
    }
}
