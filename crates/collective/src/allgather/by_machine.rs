//! The blocks of all ranks in one piece, in the order of their machines: leaders exchange those of a machine
//! in one message, though its ranks need not follow each other in the communicator.

use crate::conversation::{Conversation, Leaders};
use crate::data::{Blocks, Elements, Part};
use heddle_comm::error::Result;
use heddle_comm::machines::Machines;
use heddle_message::buffer::Buffer;
use std::ops::Range;

/// Memory of the library for the blocks of all ranks.
#[derive(Debug)]
pub(super) struct ByMachine<'a> {
    machines: &'a Machines,
    room: Elements<'static>,
    /// Where the block of each rank is.
    of_ranks: Vec<Range<usize>>,
    /// Where the blocks of each machine are.
    of_machines: Vec<Range<usize>>,
}

impl<'a> ByMachine<'a> {
    /// Memory for blocks of these lengths.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn new(
        talk: &mut Conversation<'_>,
        leaders: Leaders<'a>,
        len: impl Fn(usize) -> usize,
    ) -> Result<ByMachine<'a>> {
        let (machines, ranks) = (leaders.machines(), 0..talk.size());
        let mut lens = vec![0; machines.leaders().len()];
        for rank in ranks.clone() {
            lens[machines.of(rank)] += len(rank);
        }
        let mut whole = 0;
        let mut follow = |len: usize| {
            whole += len;
            whole - len..whole
        };
        let of_machines: Vec<_> = lens.into_iter().map(&mut follow).collect();
        let mut ends: Vec<usize> = of_machines.iter().map(|place| place.start).collect();
        let of_ranks = ranks.map(|rank| {
            let end = &mut ends[machines.of(rank)];
            *end += len(rank);
            *end - len(rank)..*end
        });
        let of_ranks = of_ranks.collect();
        Ok(ByMachine { machines, room: talk.temporary_bytes(whole)?, of_ranks, of_machines })
    }

    /// All blocks.
    pub(super) fn whole(&self) -> Part<'static> {
        self.part(&(0..self.of_machines.last().map_or(0, |last| last.end)))
    }

    /// The block of a rank.
    pub(super) fn of_rank(&self, rank: usize) -> Buffer {
        self.part(&self.of_ranks[rank]).buffer()
    }

    /// The block of each rank of this process's machine.
    pub(super) fn of_members(&self) -> impl Blocks {
        Chosen(|position: usize| self.of_rank(self.machines.members()[position] as usize))
    }

    /// The blocks of each machine, for its leader.
    pub(super) fn of_machines(&self) -> impl Blocks {
        Chosen(|machine: usize| self.part(&self.of_machines[machine]).buffer())
    }

    fn part(&self, place: &Range<usize>) -> Part<'static> {
        Part { elements: self.room.at(place.start as i64), count: place.len() as i64 }
    }
}

/// Blocks that a function gives.
struct Chosen<F>(F);

impl<F: Fn(usize) -> Buffer> Blocks for Chosen<F> {
    fn block(&self, rank: usize) -> Buffer {
        self.0(rank)
    }
}
