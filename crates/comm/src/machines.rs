//! The machines of a communicator whose processes are on several.
//!
//! Each machine has a **leader**, the lowest of its ranks. In an operation by leaders the ranks of a machine
//! act among themselves, and the leaders among themselves; so only leaders use the network.

use heddle_blackboard::BoardPlace;
use std::collections::HashMap;

/// The machines of a communicator's ranks, as one of its processes knows them. They have numbers, in the
/// order of their leaders' ranks.
#[derive(Debug)]
pub struct Machines {
    /// The machine of each rank.
    of: Box<[u32]>,
    /// The leader of each machine.
    leaders: Box<[u32]>,
    /// The ranks of this process's machine, in ascending order.
    members: Box<[u32]>,
    /// This process's rank.
    rank: usize,
    /// True if the ranks of each machine follow each other.
    follow_each_other: bool,
    /// The blackboard of this process's machine.
    pub blackboard: BoardPlace,
}

impl Machines {
    /// The machines of the ranks that are on these nodes, as process `rank` knows them. `None` if leaders
    /// would be of no use: there is one machine, or each rank has a machine for itself.
    #[must_use]
    pub fn new(node_of: &[u32], rank: usize) -> Option<Machines> {
        let (mut leaders, mut numbers) = (Vec::new(), HashMap::new());
        let mut number_of = |(rank, node)| {
            *numbers.entry(node).or_insert_with(|| {
                leaders.push(rank);
                leaders.len() as u32 - 1
            })
        };
        let of: Box<[u32]> = (0u32..).zip(node_of).map(&mut number_of).collect();
        if leaders.len() == of.len() || leaders.len() < 2 {
            return None;
        }
        let own = of[rank];
        let members = (0u32..).zip(&of).filter(|(_, machine)| **machine == own).map(|(rank, _)| rank);
        let follow_each_other = of.is_sorted();
        Some(Machines {
            members: members.collect(),
            of,
            leaders: leaders.into(),
            rank,
            follow_each_other,
            blackboard: BoardPlace::default(),
        })
    }

    /// The machine of a rank.
    #[must_use]
    pub fn of(&self, rank: usize) -> usize {
        self.of[rank] as usize
    }

    /// The machine of this process.
    #[must_use]
    pub fn own(&self) -> usize {
        self.of(self.rank)
    }

    /// The leader of each machine.
    #[must_use]
    pub fn leaders(&self) -> &[u32] {
        &self.leaders
    }

    /// The ranks of this process's machine.
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The position of a rank among those of this process's machine; `None` if it is on another one.
    #[must_use]
    pub fn position(&self, rank: usize) -> Option<usize> {
        self.members.binary_search(&(rank as u32)).ok()
    }

    /// This process's position among the ranks of its machine.
    #[must_use]
    pub fn own_position(&self) -> usize {
        self.position(self.rank).unwrap_or(0)
    }

    /// Returns true if the ranks of each machine follow each other, so that results of machines can be
    /// combined in the order of all ranks.
    #[must_use]
    pub fn follow_each_other(&self) -> bool {
        self.follow_each_other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_numbers_in_the_order_of_their_leaders() {
        let machines = Machines::new(&[7, 1, 7, 1, 4, 7], 2).expect("three machines");
        assert_eq!(machines.leaders(), [0, 1, 4]);
        assert_eq!((0..6).map(|rank| machines.of(rank)).collect::<Vec<_>>(), [0, 1, 0, 1, 2, 0]);
        assert_eq!((machines.own(), machines.members()), (0, &[0, 2, 5][..]));
        assert_eq!((machines.own_position(), machines.position(5), machines.position(3)), (1, Some(2), None));
        assert!(!machines.follow_each_other());
        let machines = Machines::new(&[2, 2, 2, 0], 3).expect("two machines");
        assert_eq!((machines.own(), machines.members()), (1, &[3][..]));
        assert!(machines.follow_each_other());
    }

    #[test]
    fn leaders_are_of_no_use_on_one_machine_and_where_each_rank_has_its_own() {
        assert!(Machines::new(&[0, 0, 0], 1).is_none());
        assert!(Machines::new(&[0, 1, 2], 1).is_none());
        assert!(Machines::new(&[0], 0).is_none());
    }
}
