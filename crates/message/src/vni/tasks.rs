//! Rounds over a VNI's tasks, and their end.

use super::core::Core;
use super::interface::{Vni, VniState, apart};
use super::task::Task;
use crate::request::{Outcome, RequestId};
use heddle_model::{Path, Whole};
use heddle_sync::queues::tasks::TaskRound;

impl Vni {
    /// Adds a task, and lets it begin.
    pub fn add_task(&self, task: Box<dyn Task>) {
        self.tasks.add(task);
        self.advance_tasks();
    }

    /// Adds a task that another thread is to begin.
    pub(crate) fn add_task_for_others(&self, task: Box<dyn Task>) {
        self.tasks.add(task);
    }

    /// Returns true if there are tasks.
    #[inline(always)]
    pub(super) fn has_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Lets the tasks go on. Returns true if one has come further.
    #[inline(always)]
    pub fn advance_tasks(&self) -> bool {
        self.has_tasks() && self.round_of_tasks().happened
    }

    /// Does the same for a thread that is about to sleep. Returns true, too, if another thread has a task.
    #[inline]
    pub fn advance_tasks_for_certain(&self) -> bool {
        let round = if self.has_tasks() { self.round_of_tasks() } else { TaskRound::QUIET };
        round.happened || round.others
    }

    #[inline(never)]
    fn round_of_tasks(&self) -> TaskRound {
        self.tasks.round(Task::advance)
    }

    /// Completes the request of a task.
    pub fn complete_task(&self, id: RequestId, outcome: Outcome) {
        match &self.state {
            // An offload thread, which advances tasks, too, must not wait for itself.
            VniState::Whole(state) if state.takes_posts() => {
                state.post(move |core| core.complete(id, outcome))
            }
            _ => run!(self, Progress, core => core.complete(id, outcome)),
        }
    }
}
