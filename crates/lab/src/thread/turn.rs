//! The turns of a thread: it goes on while it is not ahead of the others.

use super::Thread;
use crate::shared::{NEVER, SharedLab, State};

/// A wait that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The event has come.
    Come,
    /// Its time is over.
    TimeOver,
}

impl Thread {
    /// The first turn: waits for the token.
    pub fn begin(&mut self, lab: &mut SharedLab) {
        lab.token.wait(self.slot);
        self.resume(lab);
    }

    /// Whether the thread has to look around before it goes on.
    #[inline(always)]
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.clock > if self.touched { self.strict } else { self.limit }
    }

    /// Looks around where the thread is ahead of the limit that holds for it.
    #[cold]
    #[inline(never)]
    pub fn pause_if_ahead(&mut self, lab: &mut SharedLab) {
        let ahead = if self.touched { lab.slack } else { lab.quantum };
        self.look_around(lab, ahead);
    }

    /// Lets others run if this thread is ahead of the slowest by more than `ahead`, or if its time slice is
    /// over.
    pub fn look_around(&mut self, lab: &mut SharedLab, ahead: u64) {
        if self.is_in_sequence() {
            return;
        }
        self.touched = false;
        if self.clock > lab.slice_end(self.slot) {
            lab.slots[self.slot as usize].counts.preempted += 1;
            lab.give_way(self.slot, self.clock);
            return self.let_others(lab);
        }
        if lab.due_before(self.clock, ahead) {
            lab.clocks[self.slot as usize] = self.clock;
            return self.let_others(lab);
        }
        self.set_limits(lab);
    }

    /// `sched_yield`.
    pub fn yield_core(&mut self, lab: &mut SharedLab) {
        lab.slots[self.slot as usize].counts.yields += 1;
        self.clock += lab.costs.yielded;
        if lab.give_way(self.slot, self.clock) {
            lab.slots[self.slot as usize].counts.yields_to_others += 1;
            self.let_others(lab);
        } else if self.clock > self.strict {
            self.look_around(lab, lab.slack);
        }
    }

    /// Sleeps until another wakes the `bits` of `word`, or until `deadline` ([`NEVER`]: without one).
    pub fn sleep(&mut self, lab: &mut SharedLab, word: u64, bits: u32, deadline: u64) -> Ended {
        lab.slots[self.slot as usize].counts.sleeps += 1;
        lab.sleep(self.slot, word, bits, self.clock, deadline);
        self.let_others(lab);
        let word = std::mem::take(&mut lab.slots[self.slot as usize].word);
        if word == 0 { Ended::Come } else { Ended::TimeOver }
    }

    /// Sleeps until `deadline`.
    pub fn sleep_until(&mut self, lab: &mut SharedLab, deadline: u64) {
        if deadline > self.clock {
            lab.sleep(self.slot, NEVER, 0, self.clock, deadline);
            self.let_others(lab);
            lab.slots[self.slot as usize].word = 0;
        }
    }

    /// Wakes up to `most` of those that sleep on the `bits` of `word`; how many.
    pub fn wake(&mut self, lab: &mut SharedLab, word: u64, bits: u32, most: u32) -> u32 {
        lab.slots[self.slot as usize].counts.wakes += 1;
        let (woken, clock) = lab.wake(word, bits, most, self.clock);
        self.clock = clock;
        self.set_limits(lab);
        woken
    }

    /// Waits until `has_come`, which the supervisor lets the thread ask when all that can happen has
    /// happened; or until `deadline`.
    pub fn wait_outside(
        &mut self,
        lab: &mut SharedLab,
        deadline: u64,
        mut has_come: impl FnMut() -> bool,
    ) -> Ended {
        if has_come() {
            return Ended::Come;
        }
        lab.wait_outside(self.slot, self.clock, deadline);
        lab.hand_over(self.slot);
        let mut ended = Ended::TimeOver;
        while lab.is_asking() {
            if has_come() {
                ended = Ended::Come;
                let at = lab.asked.max(lab.slots[self.slot as usize].since);
                lab.make_ready(self.slot, at);
            }
            lab.answer(self.slot);
        }
        self.resume(lab);
        ended
    }

    /// In a process that nobody else's machine has: the thread has the token.
    pub fn go_on_alone(&mut self, lab: &mut SharedLab) {
        self.resume(lab);
    }

    /// Counts the instructions that the thread has run.
    pub fn count(&mut self, lab: &mut SharedLab) {
        lab.slots[self.slot as usize].counts.instructions += std::mem::take(&mut self.instructions);
    }

    /// The thread ends.
    pub fn end(&mut self, lab: &mut SharedLab) {
        self.count(lab);
        lab.end_thread(self.slot, self.clock);
        lab.hand_on();
    }

    /// The thread may run on the cores in `allowed`.
    pub fn restrict(&mut self, lab: &mut SharedLab, allowed: [u64; crate::shared::CORES / 64]) {
        if lab.restrict(self.slot, allowed, self.clock) {
            self.let_others(lab);
        }
    }

    /// Others have their turns, until it is this thread's.
    fn let_others(&mut self, lab: &mut SharedLab) {
        lab.hand_over(self.slot);
        self.resume(lab);
    }

    fn resume(&mut self, lab: &mut SharedLab) {
        self.count(lab);
        debug_assert_eq!(lab.slots[self.slot as usize].state, State::Running);
        self.clock = std::mem::replace(&mut lab.clocks[self.slot as usize], NEVER);
        let core = lab.slots[self.slot as usize].core;
        if core != self.core {
            self.core = core;
            self.forget();
        }
        self.set_limits(lab);
    }

    /// Looks how far the others are: after one was made ready.
    pub fn set_limits(&mut self, lab: &SharedLab) {
        let others = lab.due();
        let slice_end = lab.slice_end(self.slot);
        self.limit = others.saturating_add(lab.quantum).min(slice_end);
        self.strict = others.saturating_add(lab.slack).min(slice_end);
    }
}
