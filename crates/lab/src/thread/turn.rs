//! When a thread runs: it goes on while it is not ahead of the others.

use super::Thread;
use crate::world::{NEVER, State, World};

/// A wait that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// What was waited for has come.
    Come,
    /// Its time is over.
    TimeOver,
}

impl Thread {
    /// The first turn: waits for the token.
    pub fn begin(&mut self, world: &mut World) {
        world.token.wait(self.slot);
        self.resume(world);
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
    pub fn pause_if_ahead(&mut self, world: &mut World) {
        let ahead = if self.touched { world.slack } else { world.quantum };
        self.look_around(world, ahead);
    }

    /// Lets others run if this thread is ahead of the slowest by more than `ahead`, or if its time slice is over.
    pub fn look_around(&mut self, world: &mut World, ahead: u64) {
        if self.is_in_sequence() {
            return;
        }
        self.touched = false;
        if self.clock > world.slice_end(self.slot) {
            world.slots[self.slot as usize].counts.preempted += 1;
            world.give_way(self.slot, self.clock);
            world.hand_over(self.slot);
            return self.resume(world);
        }
        if world.due_before(self.clock, ahead) {
            world.clocks[self.slot as usize] = self.clock;
            world.hand_over(self.slot);
            return self.resume(world);
        }
        self.set_limits(world);
    }

    /// `sched_yield`.
    pub fn yield_core(&mut self, world: &mut World) {
        world.slots[self.slot as usize].counts.yields += 1;
        self.clock += world.costs.yielded;
        if world.give_way(self.slot, self.clock) {
            world.hand_over(self.slot);
            self.resume(world);
        } else if self.clock > self.strict {
            self.look_around(world, world.slack);
        }
    }

    /// Sleeps until another wakes the `bits` of `word`, or until `deadline` ([`NEVER`]: without one).
    pub fn sleep(&mut self, world: &mut World, word: u64, bits: u32, deadline: u64) -> Ended {
        world.slots[self.slot as usize].counts.sleeps += 1;
        world.sleep(self.slot, word, bits, self.clock, deadline);
        world.hand_over(self.slot);
        self.resume(world);
        let word = std::mem::take(&mut world.slots[self.slot as usize].word);
        if word == 0 { Ended::Come } else { Ended::TimeOver }
    }

    /// Sleeps until `deadline`.
    pub fn sleep_until(&mut self, world: &mut World, deadline: u64) {
        if deadline > self.clock {
            world.sleep(self.slot, NEVER, 0, self.clock, deadline);
            world.hand_over(self.slot);
            self.resume(world);
            world.slots[self.slot as usize].word = 0;
        }
    }

    /// Wakes up to `most` of those that sleep on the `bits` of `word`; how many.
    pub fn wake(&mut self, world: &mut World, word: u64, bits: u32, most: u32) -> u32 {
        world.slots[self.slot as usize].counts.wakes += 1;
        let (woken, clock) = world.wake(word, bits, most, self.clock);
        self.clock = clock;
        self.set_limits(world);
        woken
    }

    /// Waits until `has_come`, which the supervisor lets the thread ask when all that can happen has happened; or until `deadline`.
    pub fn wait_outside(&mut self, world: &mut World, deadline: u64, mut has_come: impl FnMut() -> bool) -> Ended {
        if has_come() {
            return Ended::Come;
        }
        world.wait_outside(self.slot, self.clock, deadline);
        world.hand_over(self.slot);
        let mut ended = Ended::TimeOver;
        while world.is_asking() {
            if has_come() {
                ended = Ended::Come;
                let at = world.asked.max(world.slots[self.slot as usize].since);
                world.make_ready(self.slot, at);
            }
            world.answer(self.slot);
        }
        self.resume(world);
        ended
    }

    /// In a process that nobody else's machine has: the thread has the token.
    pub fn go_on_alone(&mut self, world: &mut World) {
        self.resume(world);
    }

    /// Counts the instructions that the thread has run.
    pub fn count(&mut self, world: &mut World) {
        world.slots[self.slot as usize].counts.instructions += std::mem::take(&mut self.instructions);
    }

    /// The thread ends.
    pub fn end(&mut self, world: &mut World) {
        self.count(world);
        world.end_thread(self.slot, self.clock);
        world.hand_on();
    }

    /// The thread may run on the cores in `allowed`.
    pub fn restrict(&mut self, world: &mut World, allowed: [u64; crate::world::CORES / 64]) {
        if world.restrict(self.slot, allowed, self.clock) {
            world.hand_over(self.slot);
            self.resume(world);
        }
    }

    fn resume(&mut self, world: &mut World) {
        self.count(world);
        debug_assert_eq!(world.slots[self.slot as usize].state, State::Running);
        self.clock = std::mem::replace(&mut world.clocks[self.slot as usize], NEVER);
        let core = world.slots[self.slot as usize].core;
        if core != self.core {
            self.core = core;
            self.forget();
        }
        self.set_limits(world);
    }

    /// Looks how far the others are: after one was made ready.
    pub fn set_limits(&mut self, world: &World) {
        let others = world.due();
        let slice_end = world.slice_end(self.slot);
        self.limit = others.saturating_add(world.quantum).min(slice_end);
        self.strict = others.saturating_add(world.slack).min(slice_end);
    }
}
