//! The check that data in a dynamic window lies in attached memory.
//!
//! The whole span of the data mostly lies in one region, which is asked first. Otherwise each run of the data
//! is looked at: it may cross the border of regions that touch, and a datatype may have blocks in regions
//! with gaps between them (MPI 5.0, section 12.2.4).

use crate::attach::stretch_of;
use crate::processes::Processes;
use heddle_datatype::Datatype;
use std::ops::Range;

/// Data in a dynamic window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data<'a> {
    /// The target.
    pub(crate) rank: usize,
    /// Where the datatype's displacements count from.
    pub(crate) address: i64,
    pub(crate) count: i64,
    pub(crate) datatype: &'a Datatype,
    /// The first byte, and the one behind the last.
    pub(crate) span: (i64, i64),
}

impl Data<'_> {
    /// The first run of the data that is not attached: where it begins and ends.
    pub(crate) fn not_attached(&self, processes: &Processes) -> Option<(i64, i64)> {
        let (first, end) = self.span;
        if processes.is_in_region(self.rank, first as u64, end.wrapping_sub(first) as u64) {
            return None;
        }
        self.run_not_attached(processes)
    }

    #[cold]
    fn run_not_attached(&self, processes: &Processes) -> Option<(i64, i64)> {
        let mut known = Known::new(processes, self.rank);
        // The span fits into 63 bits, so the sums do.
        let first = |offset: i64| self.address.wrapping_add(offset);
        let run = self
            .datatype
            .runs(self.count, 0)
            .find(|run| !known.has(first(run.offset) as u64, run.len as u64))?;
        Some((first(run.offset), first(run.offset).wrapping_add(run.len as i64)))
    }
}

/// The stretches of a process's attached memory, as far as they are known here.
struct Known<'a> {
    processes: &'a Processes,
    rank: usize,
    /// Sorted.
    stretches: Vec<Range<u64>>,
    /// The one that was found last: neighbouring runs mostly lie in one.
    last: usize,
}

impl<'a> Known<'a> {
    /// All stretches of a process of this machine, and none yet of another one.
    fn new(processes: &'a Processes, rank: usize) -> Known<'a> {
        Known { processes, rank, stretches: processes.stretches(rank), last: 0 }
    }

    /// Returns true if the bytes are attached.
    fn has(&mut self, address: u64, len: u64) -> bool {
        let last = self.stretches.get(self.last..=self.last).unwrap_or_default();
        if stretch_of(last, address, len).is_some() {
            return true;
        }
        let found = stretch_of(&self.stretches, address, len).or_else(|| self.ask(address, len));
        self.last = found.unwrap_or(self.last);
        found.is_some()
    }

    /// Asks a process of another machine for the stretch of these bytes. Returns its number among those
    /// known.
    fn ask(&mut self, address: u64, len: u64) -> Option<usize> {
        let stretch = self.processes.far(self.rank)?.stretch(self.rank, address, len)?;
        let index = self.stretches.partition_point(|known| known.end <= address);
        self.stretches.insert(index, stretch);
        Some(index)
    }
}
