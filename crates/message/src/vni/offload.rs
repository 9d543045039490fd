//! The turns of the offload threads, and of threads that wait while these have no core.

use super::core::Core;
use super::interface::{Vni, VniState};
use super::step::{Entry, Step};
use heddle_model::{OffloadTurn, Whole};
use heddle_sync::{Next, WaitPolicy, Waiter};

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOutcome {
    /// There was nothing to do.
    Nothing,
    /// Operations were run, or progress was made.
    Worked,
    /// Another thread has the turn.
    ByAnother,
}

impl Vni {
    /// Runs posted operations and makes progress, unless another thread has the turn.
    pub fn serve(&self) -> TurnOutcome {
        match self.take_turn().map(|turn| self.serve_in(turn)) {
            Some(true) => TurnOutcome::Worked,
            Some(false) => TurnOutcome::Nothing,
            None => TurnOutcome::ByAnother,
        }
    }

    /// The number of turns so far; 0 if no offload thread serves the VNI.
    pub fn turns(&self) -> u32 {
        match &self.state {
            VniState::Whole(state) => state.turns(),
            VniState::Parted(_) | VniState::LockFree(_) => 0,
        }
    }

    /// Does the same as [`serve`](Self::serve) for a waiting thread, if no thread has had a turn since there
    /// were `seen` [turns](Self::turns). Otherwise updates `seen`. Returns true if there was anything to do.
    pub fn serve_if_idle(&self, seen: &mut u32) -> bool {
        match &self.state {
            VniState::Whole(state) => state.take_idle_turn(seen).is_some_and(|turn| self.serve_in(turn)),
            VniState::Parted(_) | VniState::LockFree(_) => false,
        }
    }

    /// Does the same as [`serve`](Self::serve), but waits for its turn if another thread has it. Returns true
    /// if there was anything to do.
    #[cold]
    pub fn serve_for_certain(&self, wait: WaitPolicy) -> bool {
        self.await_turn(wait).is_some_and(|turn| self.serve_in(turn))
    }

    fn take_turn(&self) -> Option<OffloadTurn<'_, Core<Whole>>> {
        match &self.state {
            VniState::Whole(state) => state.take_turn(),
            VniState::Parted(_) | VniState::LockFree(_) => None,
        }
    }

    /// Waits for a turn; turns are short. `None` if no offload thread serves the VNI.
    fn await_turn(&self, wait: WaitPolicy) -> Option<OffloadTurn<'_, Core<Whole>>> {
        let VniState::Whole(state) = &self.state else { return None };
        let mut waiter = Waiter::new(&WaitPolicy { park: false, ..wait }, 1);
        while state.is_offloaded() {
            if let Some(turn) = state.take_turn() {
                return Some(turn);
            }
            let next = waiter.pause();
            debug_assert_eq!(next, Next::Poll, "it does not park");
        }
        None
    }

    fn serve_in(&self, mut turn: OffloadTurn<'_, Core<Whole>>) -> bool {
        let served = turn.serve_posted();
        let step = turn.with(|core| core.step(Entry::Wait));
        if !matches!(step, Step::Nothing) {
            turn.has_made_progress();
        }
        // Other threads may have their turns while a large message is copied.
        drop(turn);
        match step {
            Step::Nothing => served,
            // Under `offload` no messages are spread.
            Step::Happened | Step::Spread(_) => true,
            Step::Pull(pull) => {
                let result = pull.run();
                self.in_a_turn(|core| core.finish_pull(pull, result));
                true
            }
            Step::Push(push) => {
                let result = push.run();
                self.in_a_turn(|core| core.finish_push(&push, &result));
                true
            }
        }
    }

    fn in_a_turn(&self, operation: impl FnOnce(&mut Core<Whole>)) {
        if let Some(mut turn) = self.await_turn(WaitPolicy::DEFAULT) {
            turn.with(operation);
        }
    }
}
