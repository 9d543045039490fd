//! Groups: ordered sets of processes (MPI 5.0, chapter 7.3).
//!
//! A group knows its members by their ranks in `MPI_COMM_WORLD`. If these are regular (one stride from each
//! to the next) it takes constant memory, and translations take constant time. Otherwise it lists them, and
//! an index, made on first use, finds the rank in the group for a world rank. So translations and set
//! operations cost O(n log n), whatever the order of the members.
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
use heddle_objects::table::{ObjectKind, Table};
use heddle_platform::allocate::{collected, reserve};
use heddle_spec::constants as mpi;
use std::sync::{Arc, LazyLock, OnceLock};

/// An ordered set of processes, each named by its rank in `MPI_COMM_WORLD`.
#[derive(Debug, Clone)]
pub struct Group {
    size: u32,
    members: Members,
    /// Pairs of world rank and rank here, in order of world ranks, of members that are listed.
    index: OnceLock<Vec<(u32, u32)>>,
    /// The session that it comes from, if it comes from one.
    session: Option<Arc<Session>>,
}

/// The world ranks of the members. Each variant is for those that fit none before it.
///
/// The variant is in a word of its own: every message looks at it, and in the list's capacity, where it would
/// be otherwise, it takes five instructions more to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(u32)]
enum Members {
    /// 0, 1 and so on: a variant of its own, since most messages go to members of `MPI_COMM_WORLD`.
    All,
    /// `first`, `first + stride` and so on, modulo 2^32, so that a stride may be negative. The stride of one
    /// member is 1.
    Regular {
        first: u32,
        stride: u32,
    },
    List(Vec<u32>),
}

impl Members {
    fn of(ranks: Vec<u32>) -> Members {
        let first = ranks.first().copied().unwrap_or(0);
        let stride = ranks.get(1).map_or(1, |second| second.wrapping_sub(first));
        let regular = (0..).map(|rank: u32| first.wrapping_add(rank.wrapping_mul(stride)));
        if (first, stride) == (0, 1) && ranks.iter().copied().eq(0..ranks.len() as u32) {
            return Members::All;
        }
        if stride != 0 && regular.zip(&ranks).all(|(regular, &rank)| regular == rank) {
            Members::Regular { first, stride }
        } else {
            Members::List(ranks)
        }
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.size == other.size && self.members == other.members
    }
}

impl Eq for Group {}

/// All groups for which the program has handles.
pub static GROUPS: Table<Arc<Group>> = Table::new(ObjectKind::Group);

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
        Group { size: size as u32, members: Members::All, index: OnceLock::new(), session: None }
    }

    /// The processes with these world ranks, in this order.
    pub fn from_world_ranks(ranks: Vec<u32>) -> Group {
        let (size, members) = (ranks.len() as u32, Members::of(ranks));
        Group { size, members, index: OnceLock::new(), session: None }
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

    /// Returns true if there is such a rank.
    #[inline(always)]
    pub fn has(&self, rank: i32) -> bool {
        // As a `u32`, a negative rank is a large one.
        (rank as u32) < self.size
    }

    /// The world rank of a member; `None` if there is no such rank.
    #[inline(always)]
    pub fn world_rank(&self, rank: usize) -> Option<usize> {
        if rank >= self.size() {
            return None;
        }
        match &self.members {
            Members::All => Some(rank),
            Members::Regular { first, stride } => {
                Some(first.wrapping_add((rank as u32).wrapping_mul(*stride)) as usize)
            }
            Members::List(ranks) => ranks.get(rank).map(|&world| world as usize),
        }
    }

    /// The rank here of the process with this world rank.
    pub fn rank_of(&self, world: usize) -> Option<usize> {
        match &self.members {
            Members::All => (world < self.size()).then_some(world),
            Members::Regular { first, stride } => {
                let distance = world as i64 - i64::from(*first);
                let stride = i64::from(*stride as i32);
                let rank = if stride == 1 { distance } else { distance / stride };
                (rank * stride == distance && (0..i64::from(self.size)).contains(&rank))
                    .then_some(rank as usize)
            }
            Members::List(ranks) => {
                let Some(index) = self.index(ranks) else {
                    return ranks.iter().position(|&member| member as usize == world);
                };
                let place = index.binary_search_by_key(&world, |&(member, _)| member as usize).ok()?;
                Some(index[place].1 as usize)
            }
        }
    }

    /// The index of the members that are listed; `None` if there is no memory for it.
    fn index(&self, ranks: &[u32]) -> Option<&[(u32, u32)]> {
        if self.index.get().is_none() {
            let mut index = collected(ranks.iter().copied().zip(0..)).ok()?;
            index.sort_unstable();
            // Another thread may have made the same one.
            let _ = self.index.set(index);
        }
        self.index.get().map(Vec::as_slice)
    }

    /// The world ranks of all members, in order.
    pub fn world_ranks(&self) -> Vec<u32> {
        self.iter().collect()
    }

    /// The world ranks of all members, in order.
    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.size()).filter_map(|rank| self.world_rank(rank)).map(|world| world as u32)
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

/// A list of at most `most` world ranks.
fn gathered(most: usize, ranks: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
    let mut all = Vec::new();
    reserve(&mut all, most)?;
    all.extend(ranks);
    Ok(all)
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
    fn regular_members_are_not_listed() {
        for ranks in [vec![], vec![7], vec![3, 4, 5], vec![1, 5, 9, 13], vec![9, 6, 3, 0], vec![8, 2]] {
            let group = Group::from_world_ranks(ranks.clone());
            assert!(!matches!(group.members, Members::List(_)), "{group:?}");
            assert_eq!(group.world_ranks(), ranks);
            for world in 0..20 {
                assert_eq!(group.rank_of(world), ranks.iter().position(|&rank| rank as usize == world));
            }
        }
        let group = Group::from_world_ranks(vec![0, 1, 3]);
        assert!(matches!(group.members, Members::List(_)), "{group:?}");
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
        let handle = session::new_handle(mpi::MPI_ERRORS_RETURN, String::new());
        let session = session::take(handle).expect("live");
        let plain = Arc::new(Group::all(4));
        let inside = plain.clone().in_session(Some(&session));
        assert!(plain.session().is_none() && *inside == *plain);
        let made = [
            inside.include(&[2, 0]).expect("ranks"),
            inside.exclude(&[1]).expect("ranks"),
            inside.union(&plain).expect("memory"),
            plain.union(&inside).expect("memory"),
            inside.intersection(&plain).expect("memory"),
            inside.difference(&Group::all(1)).expect("memory"),
        ];
        for group in made {
            assert!(group.session().is_some_and(|found| Arc::ptr_eq(found, &session)), "{group:?}");
        }
        let other = session::take(session::new_handle(mpi::MPI_ERRORS_RETURN, String::new())).expect("live");
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
