//! Groups: ordered sets of processes (MPI 5.0, chapter 7.3).

use crate::object_table::{Kind, Table};

/// An ordered set of processes, each named by its rank in `MPI_COMM_WORLD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    members: Members,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Members {
    /// World ranks 0 to n − 1.
    FirstOf(u32),
    List(Vec<u32>),
}

/// All groups that the program holds handles to.
pub static GROUPS: Table<std::sync::Arc<Group>> = Table::new(Kind::Group);

impl Group {
    /// All processes of a world of `size`.
    pub fn all(size: usize) -> Group {
        Group { members: Members::FirstOf(size as u32) }
    }

    /// The processes with these world ranks, in this order.
    pub fn from_world_ranks(ranks: Vec<u32>) -> Group {
        if ranks.iter().copied().eq(0..ranks.len() as u32) {
            return Group::all(ranks.len());
        }
        Group { members: Members::List(ranks) }
    }

    /// Number of processes.
    #[inline(always)]
    pub fn size(&self) -> usize {
        match &self.members {
            Members::FirstOf(count) => *count as usize,
            Members::List(ranks) => ranks.len(),
        }
    }

    /// The world rank of a member; `None` if there is no such rank.
    #[inline(always)]
    pub fn world_rank(&self, rank: usize) -> Option<usize> {
        match &self.members {
            Members::FirstOf(count) => (rank < *count as usize).then_some(rank),
            Members::List(ranks) => ranks.get(rank).map(|&world| world as usize),
        }
    }

    /// The rank here of the process with this world rank.
    pub fn rank_of(&self, world: usize) -> Option<usize> {
        match &self.members {
            Members::FirstOf(count) => (world < *count as usize).then_some(world),
            Members::List(ranks) => ranks.iter().position(|&member| member as usize == world),
        }
    }

    /// The world ranks of all members, in order.
    pub fn world_ranks(&self) -> Vec<u32> {
        match &self.members {
            Members::FirstOf(count) => (0..*count).collect(),
            Members::List(ranks) => ranks.clone(),
        }
    }
}
