//! Lines that moved, for the report.

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
    /// The instruction at `instruction` of `process` waited `cost` for the line at `address`.
    pub fn note_move(&mut self, at: LineIndex, instruction: u64, process: u32, address: u64, cost: u64) {
        self.movers(at.number()).note(instruction, process, address, cost);
    }

    /// Lines that moved, those that cost most first: an address, transfers, their cost, and the instructions.
    pub fn hottest(&mut self, most: usize) -> Vec<HotLine> {
        let mut found: Vec<HotLine> = (0..self.directory_size())
            .filter_map(|index| {
                let movers = self.movers(index);
                let by = movers.by.iter().filter(|mover| mover.times > 0).copied().collect();
                (movers.transfers > 0).then_some(HotLine {
                    address: movers.address,
                    transfers: movers.transfers,
                    cost: movers.cost,
                    by,
                })
            })
            .collect();
        found.sort_by_key(|line| std::cmp::Reverse(line.cost));
        found.truncate(most);
        found
    }
}
