//! A line serves one core after the other, in the order in which they asked.

use super::{Access, Fetch, LineIndex, LineOrigin, SharedLab};

/// A line that a store or locked instruction will get: its place in the line's queue is taken.
#[derive(Clone, Copy, Debug)]
pub struct Foreseen {
    /// The line.
    pub line: LineIndex,
    /// When it comes.
    pub at: u64,
    /// How long that takes.
    pub cost: u64,
}

impl SharedLab {
    /// Takes a place in the line's queue for a store or locked instruction of `core` at `clock`, if other cores have it.
    pub fn foresee(&mut self, at: LineIndex, core: u32, access: Access, clock: u64) -> Option<Foreseen> {
        let mut fetch = self.price(at, core, access);
        let line = self.line(at.number());
        let busy = line.busy;
        // The one that waits before this one will have it.
        let before = u32::try_from(line.last).ok().filter(|before| busy > clock && *before != core);
        if let Some(before) = before {
            fetch = Fetch { origin: LineOrigin::Cores, cost: self.transfer(before, core), occupied: 0 };
        }
        if fetch.origin != LineOrigin::Cores {
            return None;
        }
        let comes = clock.max(busy) + fetch.cost;
        let held = if access == Access::Locked { self.costs.held } else { 0 };
        let line = self.line(at.number());
        line.busy = comes + held;
        line.last = core as i16;
        Some(Foreseen { line: at, at: comes, cost: fetch.cost })
    }

    /// The line is busy for a load of `core` that begins at `clock`: when it comes.
    pub fn serve(&mut self, at: LineIndex, core: u32, clock: u64, fetch: Fetch) -> u64 {
        let line = self.line(at.number());
        if fetch.origin != LineOrigin::Cores {
            return clock + fetch.cost;
        }
        let begins = clock.max(line.busy);
        line.busy = begins + fetch.occupied;
        line.last = core as i16;
        begins + fetch.cost
    }
}
