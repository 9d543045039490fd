//! Ranks of a communicator that act among themselves: those of a machine, or the leaders of the machines.

use heddle_blackboard::Blackboard;
use heddle_comm::machines::Machines;

/// Ranks that act among themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subgroup<'a> {
    /// Their ranks in the communicator.
    pub(super) ranks: &'a [u32],
    /// The position of a leader for whom the root of the operation acts, and the root.
    pub(super) replaced: Option<(usize, usize)>,
    pub(super) blackboard: Option<&'a Blackboard>,
}

impl Subgroup<'_> {
    pub(super) fn rank_in_communicator(&self, rank: usize) -> usize {
        match self.replaced {
            Some((position, root)) if position == rank => root,
            _ => self.ranks[rank] as usize,
        }
    }
}

/// The leaders of an operation: one per machine, the root on its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaders<'a> {
    pub(super) machines: &'a Machines,
    pub(super) root: Option<usize>,
}

impl<'a> Leaders<'a> {
    /// The leaders for an operation with this root, or without one.
    pub(crate) fn new(machines: &'a Machines, root: Option<usize>) -> Leaders<'a> {
        Leaders { machines, root }
    }

    /// The machines.
    pub(crate) fn machines(self) -> &'a Machines {
        self.machines
    }

    /// The position of the root's machine among the leaders.
    pub(crate) fn of_root(self) -> usize {
        self.root.map_or(0, |root| self.machines.of(root))
    }

    /// The position of the leader among the ranks of this process's machine.
    pub(crate) fn here(self) -> usize {
        self.root.and_then(|root| self.machines.position(root)).unwrap_or(0)
    }

    /// Returns true if this process is a leader.
    pub(crate) fn is_one(self) -> bool {
        self.machines.own_position() == self.here()
    }

    /// Returns true if other ranks are on this process's machine.
    pub(crate) fn has_others_here(self) -> bool {
        self.machines.members().len() > 1
    }
}
