//! Loads that are under way: a core goes on without them until something needs what they bring.
//!
//! What waits for a load: an access whose address is made of it and that misses, too; a branch that is made
//! of it and goes another way than the last time, which a core foresees wrongly; the instruction that no
//! longer fits into the window of those under way; a locked instruction, a fence and a system call. A store
//! becomes visible after the loads before it.

use super::Thread;
use super::dataflow::{Flow, Load, Sources};
use crate::machine::Costs;

/// Cores of today have room for so many lines on their way.
const MOST: usize = 16;

impl Thread {
    /// Whether a load may be under way.
    #[inline(always)]
    #[must_use]
    pub fn has_loads(&self) -> bool {
        !self.loads.loads.is_empty()
    }

    /// The thread goes from one block, with this `flow`, to another, which is or is not the one that came
    /// after it the last time.
    #[cold]
    #[inline(never)]
    pub fn go_on_to_block(&mut self, flow: &Flow, is_expected: bool) {
        let now = self.clock;
        self.loads.loads.retain(|load| load.comes > now);
        if !is_expected {
            self.wait_for(flow.branch);
        }
        while let Some(load) = self.loads.loads.first().copied().filter(|load| load.fills < self.clock) {
            self.stall_until(load.comes);
        }
        for load in &mut self.loads.loads {
            let before = load.registers;
            for (register, sources) in &flow.changed {
                let is_made_of_it = sources.registers & before != 0 || sources.loads & load.load != 0;
                load.registers =
                    if is_made_of_it { load.registers | register } else { load.registers & !register };
            }
            load.load = 0;
        }
    }

    /// A load, whose bit in its block is `load`, has missed: its line comes at `comes`.
    pub(super) fn begin_load(&mut self, costs: &Costs, comes: u64, load: u64) {
        if load == 0 {
            return self.stall_until(comes);
        }
        let now = self.clock;
        let loads = &mut self.loads.loads;
        loads.retain(|load| load.comes > now);
        if comes <= now {
            return;
        }
        loads.push(Load { comes, fills: now + costs.window * costs.instruction, registers: 0, load });
        if loads.len() > MOST {
            let first = loads.iter().map(|load| load.comes).min().unwrap_or(now);
            self.stall_until(first);
        }
    }

    /// Waits for the loads that something is made of.
    pub(super) fn wait_for(&mut self, sources: Sources) {
        let needed = |load: &&Load| sources.registers & load.registers != 0 || sources.loads & load.load != 0;
        if let Some(comes) = self.loads.loads.iter().filter(needed).map(|load| load.comes).max() {
            self.stall_until(comes);
        }
    }

    /// When all loads so far have come.
    pub(super) fn loaded(&self) -> u64 {
        self.loads.loads.iter().map(|load| load.comes).max().unwrap_or(0)
    }

    /// Waits for all loads.
    pub fn wait_loaded(&mut self) {
        self.clock = self.clock.max(self.loaded());
        self.loads.loads.clear();
    }

    /// Nothing goes on until `time`.
    fn stall_until(&mut self, time: u64) {
        let stall = time.saturating_sub(self.clock);
        self.clock += stall;
        self.loads.loads.retain(|load| load.comes > time);
        for load in &mut self.loads.loads {
            load.fills += stall;
        }
    }

    /// The thread has another core.
    pub(super) fn forget_loads(&mut self) {
        self.loads.loads.clear();
    }
}
