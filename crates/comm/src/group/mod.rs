//! Groups: ordered sets of processes (MPI 5.0, chapter 7.3).
//!
//! A group lists its members by their ranks in `MPI_COMM_WORLD`. An index, made on first use, finds
//! the rank in the group for a world rank. So translations and set operations cost O(n log n),
//! whatever the order of the members.
//!
//! A group made from a session's process set belongs to the session, and so do the groups made of its
//! members.
//!
//! | file | idea |
//! |---|---|
//! | `set.rs` | union, intersection, difference, comparison |
//! | `select.rs` | groups made of chosen members: lists and ranges of ranks |

mod select;
mod set;

use crate::error::{Error, Result};
use crate::session::Session;
use heddle_objects::table::{Kind, Table};
use heddle_spec::constants as mpi;
use std::sync::{Arc, LazyLock, OnceLock};

/// An ordered set of processes, each named by its rank in `MPI_COMM_WORLD`.
#[derive(Debug, Clone)]
pub struct Group {
    size: u32,
    /// The world ranks of the members; `None` if they are 0 to size − 1.
    list: Option<Box<[u32]>>,
    /// Pairs of world rank and rank here, in order of world ranks.
    index: OnceLock<Box<[(u32, u32)]>>,
    /// The session that it comes from, if it comes from one.
    session: Option<Arc<Session>>,
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.size == other.size && self.list == other.list
    }
}

impl Eq for Group {}

/// All groups for which the program has handles.
pub static GROUPS: Table<Arc<Group>> = Table::new(Kind::Group);

static EMPTY: LazyLock<Arc<Group>> = LazyLock::new(|| Arc::new(Group::all(0)));

/// The group of a handle.
///
/// # Errors
/// `MPI_ERR_GROUP` for anything that is not a live group's handle.
pub fn from_handle(handle: usize) -> Result<Arc<Group>> {
    if handle == mpi::MPI_GROUP_EMPTY {
        return Ok(EMPTY.clone());
    }
    GROUPS.get(handle).map(|group| Arc::clone(&group)).ok_or_else(|| bad_handle(handle))
}

/// A handle for a group; every group without members is `MPI_GROUP_EMPTY`.
pub fn new_handle(group: Arc<Group>) -> usize {
    if group.size() == 0 { mpi::MPI_GROUP_EMPTY } else { GROUPS.insert(group) }
}

/// Frees a handle. `MPI_GROUP_EMPTY` may be freed, since set operations return it, and stays.
///
/// # Errors
/// `MPI_ERR_GROUP` for anything that is not a live group's handle.
pub fn free(handle: usize) -> Result<()> {
    if handle == mpi::MPI_GROUP_EMPTY || GROUPS.remove(handle).is_some() {
        return Ok(());
    }
    Err(bad_handle(handle))
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_GROUP_NULL {
        "MPI_GROUP_NULL is not a group to work with".to_owned()
    } else {
        format!("{handle:#x} is not a group: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_GROUP, what)
}

impl Group {
    /// All processes of a world of `size`.
    pub fn all(size: usize) -> Group {
        Group { size: size as u32, list: None, index: OnceLock::new(), session: None }
    }

    /// The processes with these world ranks, in this order.
    pub fn from_world_ranks(ranks: Vec<u32>) -> Group {
        if ranks.iter().copied().eq(0..ranks.len() as u32) {
            return Group::all(ranks.len());
        }
        Group { size: ranks.len() as u32, list: Some(ranks.into()), index: OnceLock::new(), session: None }
    }

    /// The processes with these world ranks, in the session of this group.
    fn derived(&self, ranks: Vec<u32>) -> Group {
        Group { session: self.session.clone(), ..Group::from_world_ranks(ranks) }
    }

    /// The same members, in a session unless the group is in one already.
    #[must_use]
    pub fn in_session(self: Arc<Group>, session: Option<&Arc<Session>>) -> Arc<Group> {
        match session {
            Some(session) if self.session.is_none() => {
                Arc::new(Group { session: Some(session.clone()), ..(*self).clone() })
            }
            _ => self,
        }
    }

    /// The session that it comes from, if it comes from one.
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// Number of processes.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The world rank of a member; `None` if there is no such rank.
    #[inline(always)]
    pub fn world_rank(&self, rank: usize) -> Option<usize> {
        if rank >= self.size() {
            return None;
        }
        match &self.list {
            None => Some(rank),
            Some(ranks) => ranks.get(rank).map(|&world| world as usize),
        }
    }

    /// The rank here of the process with this world rank.
    pub fn rank_of(&self, world: usize) -> Option<usize> {
        match &self.list {
            None => (world < self.size()).then_some(world),
            Some(ranks) => {
                let index = self.index.get_or_init(|| index_of(ranks));
                let place = index.binary_search_by_key(&world, |&(member, _)| member as usize).ok()?;
                Some(index[place].1 as usize)
            }
        }
    }

    /// The world ranks of all members, in order.
    pub fn world_ranks(&self) -> Vec<u32> {
        self.iter().collect()
    }

    /// The world ranks of all members, in order.
    fn iter(&self) -> impl Iterator<Item = u32> {
        let (count, list) = match &self.list {
            None => (self.size, &[][..]),
            Some(ranks) => (0, &ranks[..]),
        };
        (0..count).chain(list.iter().copied())
    }

    /// Ranks of this group as ranks of another one, `MPI_UNDEFINED` for a process that is not in
    /// it. `MPI_PROC_NULL` stays.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if this group has no such rank.
    pub fn translate<'a>(
        &'a self,
        ranks: &'a [i32],
        other: &'a Group,
    ) -> impl Iterator<Item = Result<i32>> + 'a {
        ranks.iter().map(|&rank| {
            if rank == mpi::MPI_PROC_NULL {
                return Ok(rank);
            }
            let world = self.world_rank(rank as usize).ok_or_else(|| self.bad_rank(rank))?;
            Ok(other.rank_of(world).map_or(mpi::MPI_UNDEFINED, |rank| rank as i32))
        })
    }

    #[cold]
    fn bad_rank(&self, rank: i32) -> Error {
        let message = match self.size() {
            0 => format!("there is no rank {rank} in the group, which is empty"),
            size => {
                format!("there is no rank {rank} in the group: its {size} ranks go from 0 to {}", size - 1)
            }
        };
        Error::new(mpi::MPI_ERR_RANK, message)
    }
}

fn index_of(ranks: &[u32]) -> Box<[(u32, u32)]> {
    let mut index: Box<[(u32, u32)]> = ranks.iter().copied().zip(0..).collect();
    index.sort_unstable();
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session;

    #[test]
    fn ranks_are_found_both_ways() {
        let group = Group::from_world_ranks(vec![5, 1, 7, 3]);
        assert_eq!(
            (0..5).map(|rank| group.world_rank(rank)).collect::<Vec<_>>(),
            [Some(5), Some(1), Some(7), Some(3), None]
        );
        for (rank, world) in group.iter().enumerate() {
            assert_eq!(group.rank_of(world as usize), Some(rank));
        }
        assert_eq!(group.rank_of(2), None);
        assert_eq!(Group::from_world_ranks(vec![0, 1, 2]), Group::all(3));
    }

    #[test]
    fn translation_knows_proc_null_and_strangers() {
        let a = Group::from_world_ranks(vec![5, 1, 7, 3]);
        let b = Group::from_world_ranks(vec![0, 3, 1, 6]);
        let got: Result<Vec<i32>> = a.translate(&[0, 1, mpi::MPI_PROC_NULL, 3], &b).collect();
        assert_eq!(got.expect("all valid"), [mpi::MPI_UNDEFINED, 2, mpi::MPI_PROC_NULL, 1]);
        for wrong in [-1, 4, i32::MAX] {
            let error = a.translate(&[wrong], &b).next().expect("one").expect_err("no such rank");
            assert_eq!(error.code(), mpi::MPI_ERR_RANK);
        }
    }

    #[test]
    fn groups_made_of_a_session_s_group_are_in_the_session() {
        let handle = session::new_handle(mpi::MPI_ERRORS_RETURN);
        let session = session::take(handle).expect("live");
        let plain = Arc::new(Group::all(4));
        let inside = plain.clone().in_session(Some(&session));
        assert!(plain.session().is_none() && *inside == *plain);
        let made = [
            inside.include(&[2, 0]).expect("ranks"),
            inside.exclude(&[1]).expect("ranks"),
            inside.union(&plain),
            plain.union(&inside),
            inside.intersection(&plain),
            inside.difference(&Group::all(1)),
        ];
        for group in made {
            assert!(group.session().is_some_and(|found| Arc::ptr_eq(found, &session)), "{group:?}");
        }
        let other = session::take(session::new_handle(mpi::MPI_ERRORS_RETURN)).expect("live");
        assert!(Arc::ptr_eq(inside.in_session(Some(&other)).session().expect("one"), &session));
    }

    #[test]
    fn handles_of_groups() {
        assert_eq!(new_handle(Arc::new(Group::all(0))), mpi::MPI_GROUP_EMPTY);
        assert_eq!(from_handle(mpi::MPI_GROUP_EMPTY).expect("predefined").size(), 0);
        free(mpi::MPI_GROUP_EMPTY).expect("harmless");
        let handle = new_handle(Arc::new(Group::all(3)));
        assert_eq!(from_handle(handle).expect("live").size(), 3);
        free(handle).expect("live");
        for wrong in [handle, mpi::MPI_GROUP_NULL, 12345] {
            assert_eq!(free(wrong).expect_err("dead").code(), mpi::MPI_ERR_GROUP);
            assert_eq!(from_handle(wrong).expect_err("dead").code(), mpi::MPI_ERR_GROUP);
        }
    }
}
