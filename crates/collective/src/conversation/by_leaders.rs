//! Parts of an operation that the ranks of a machine have among themselves, or the leaders of the machines.
//!
//! Meanwhile the conversation speaks of those alone: they have ranks from 0 on, and, if they are on one
//! machine, its blackboard. So an algorithm for all ranks of a communicator does for them, too.

use super::description::{Conversation, Form};
use super::subgroup::{Leaders, Subgroup};
use crate::data::Reduction;
use heddle_blackboard::Blackboard;
use heddle_comm::machines::Machines;
use heddle_model::counters::{self, CountedEvent};
use heddle_settings::Algorithm;

impl<'a> Conversation<'a> {
    /// The machines of the communicator's ranks, if the operation is to go by leaders: it is carried out at
    /// once, the algorithm allows it, and if the choice is `auto`, `is_quicker`. To be asked where the
    /// communicator has no blackboard.
    pub(crate) fn machines(&self, algorithm: Algorithm, is_quicker: bool) -> Option<&'a Machines> {
        self.machines_if(algorithm, is_quicker, |_| true)
    }

    /// The same for a reduction: machines may be combined in their order if the operator commutes, or if the
    /// ranks of each follow each other.
    pub(crate) fn machines_for(
        &self,
        reduction: &Reduction<'_>,
        algorithm: Algorithm,
        is_quicker: bool,
    ) -> Option<&'a Machines> {
        let may = |machines: &Machines| reduction.commutes() || machines.follow_each_other();
        self.machines_if(algorithm, is_quicker, may)
    }

    fn machines_if(
        &self,
        algorithm: Algorithm,
        is_quicker: bool,
        may: impl Fn(&Machines) -> bool,
    ) -> Option<&'a Machines> {
        if self.subgroup.is_some() || matches!(self.form, Form::Recorded(_)) {
            return None;
        }
        let machines = self.comm.machines.get()?;
        if !algorithm.allows_leaders(is_quicker) || !may(machines) {
            return None;
        }
        counters::count(CountedEvent::LeaderCollective, 1);
        Some(machines)
    }

    /// Describes what the ranks of this process's machine do among themselves.
    pub(crate) fn on_machine<R>(
        &mut self,
        leaders: Leaders<'a>,
        describe: impl FnOnce(&mut Conversation<'a>) -> R,
    ) -> R {
        let machines = leaders.machines;
        let subgroup =
            Subgroup { ranks: machines.members(), replaced: None, blackboard: machines.blackboard.get() };
        self.within(subgroup, machines.own_position(), describe)
    }

    /// Describes what the leaders do among themselves; this process must be one.
    pub(crate) fn among_leaders<R>(
        &mut self,
        leaders: Leaders<'a>,
        describe: impl FnOnce(&mut Conversation<'a>) -> R,
    ) -> R {
        let machines = leaders.machines;
        let replaced = leaders.root.map(|root| (machines.of(root), root));
        let subgroup = Subgroup { ranks: machines.leaders(), replaced, blackboard: None };
        self.within(subgroup, machines.own(), describe)
    }

    fn within<R>(
        &mut self,
        subgroup: Subgroup<'a>,
        rank: usize,
        describe: impl FnOnce(&mut Conversation<'a>) -> R,
    ) -> R {
        let before = (self.subgroup, self.rank, self.size);
        (self.subgroup, self.rank, self.size) = (Some(subgroup), rank, subgroup.ranks.len());
        let result = describe(self);
        (self.subgroup, self.rank, self.size) = before;
        result
    }

    /// The rank in the communicator of one of the ranks that act now.
    #[inline(always)]
    pub(super) fn rank_in_communicator(&self, rank: usize) -> usize {
        match &self.subgroup {
            None => rank,
            Some(subgroup) => subgroup.rank_in_communicator(rank),
        }
    }

    /// The blackboard of the ranks that act now, if they are those of a machine.
    #[cold]
    #[inline(never)]
    pub(super) fn blackboard_of_subgroup(&self) -> Option<&'a Blackboard> {
        self.subgroup.and_then(|subgroup| subgroup.blackboard)
    }
}
