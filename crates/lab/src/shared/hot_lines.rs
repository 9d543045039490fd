//! Lines that moved, for the report.

use super::limits::MOVED;
use super::stats::LineMovers;
use super::{LineIndex, SharedLab};

/// A line that moved.
#[derive(Clone, Debug)]
pub struct HotLine {
    /// An address of it, in the process of the first of `by`.
    pub address: u64,
    /// How often it went from core to core.
    pub transfers: u64,
    /// How long threads waited for it.
    pub cost: u64,
    /// Who moved it.
    pub by: Vec<super::LineMover>,
}

impl SharedLab {
    /// From now on moves of lines, and time, are counted: what was counted before is forgotten.
    pub fn begin_interval(&mut self) {
        if self.report_wanted == 0 {
            return;
        }
        for place in 0..self.moved_used as usize {
            let index = self.moved[place] as usize;
            *self.movers(index) = LineMovers::default();
        }
        self.moved_used = 0;
        self.intervals += 1;
        self.counting = self.intervals;
    }

    /// No longer.
    pub fn end_interval(&mut self) {
        self.counting = 0;
    }

    /// The interval that was counted last.
    #[must_use]
    pub fn last_interval(&self) -> u32 {
        self.intervals
    }

    /// The instruction at `instruction` of `process` waited `cost` for the line at `address`.
    pub fn note_move(&mut self, at: LineIndex, instruction: u64, process: u32, address: u64, cost: u64) {
        let movers = self.movers(at.number());
        let is_first = movers.transfers == 0;
        movers.note(instruction, process, address, cost);
        if is_first && (self.moved_used as usize) < MOVED {
            self.moved[self.moved_used as usize] = at.number() as u32;
            self.moved_used += 1;
        }
    }

    /// Lines that moved, those that cost most first.
    pub fn hottest(&mut self, most: usize) -> Vec<HotLine> {
        let mut places = self.moved[..self.moved_used as usize].to_vec();
        places.sort_unstable();
        places.dedup();
        let moved = places.into_iter().filter_map(|index| {
            let movers = self.movers(index as usize);
            let by = movers.by.iter().filter(|mover| mover.times > 0).copied().collect();
            let line =
                HotLine { address: movers.address, transfers: movers.transfers, cost: movers.cost, by };
            (line.transfers > 0).then_some(line)
        });
        let mut found: Vec<HotLine> = moved.collect();
        found.sort_by_key(|line| std::cmp::Reverse(line.cost));
        found.truncate(most);
        found
    }
}
