//! Publishing: what this process writes in a round, once its cell is free.

use super::{Blackboard, number_of_lane};
use crate::block_table::BlockTable;
use crate::cell::{self, DEPTH, LANE_DEPTH};
use crate::pages;
use crate::published::{Round, Span};
use heddle_message::buffer::Buffer;
use heddle_sync::queues::publications::{Finished, Processes, Room};
use heddle_transport::Stores;

impl Blackboard {
    /// Publishes data, not more than the [limit](Self::limits), unless the cell is not free yet: then it
    /// returns false and has done nothing. It wakes the process `reader`, or all of them. If there is no
    /// memory for the data, all readers learn that. What is published is the span of the data; readers
    /// learn the length of the whole.
    #[inline(always)]
    pub fn publish(
        &self,
        round: Round,
        what: u32,
        (data, span): (&Buffer, Span),
        reader: Option<usize>,
    ) -> bool {
        let write = |to, stores| {
            // SAFETY: there is room for the data, which nobody reads.
            unsafe { data.copy_part_out_as(span.start, (to, stores), span.len) };
        };
        self.publish_by(round, what, (data.len(), span.len), (reader, write)) && {
            self.wake(reader);
            true
        }
    }

    /// Publishes a block for each process, unless the cell is not free yet: then it returns false and has
    /// done nothing. It wakes all. If there is no memory for the blocks, all readers learn that.
    pub fn publish_blocks(&self, round: Round, what: u32, blocks: &BlockTable) -> bool {
        let len = blocks.len();
        let write = |to, stores| {
            // SAFETY: there is room for the data, which nobody reads.
            unsafe { blocks.write(to, stores) };
        };
        self.publish_by(round, what, (len, len), (None, write)) && {
            self.wake_all();
            true
        }
    }

    /// Publishes `part` bytes, which `write` puts where it is told, of data of `whole` bytes. Wakes nobody.
    #[inline(always)]
    fn publish_by(
        &self,
        round: Round,
        what: u32,
        (whole, part): (usize, usize),
        (reader, write): (Option<usize>, impl FnOnce(*mut u8, Stores)),
    ) -> bool {
        if whole > cell::ROOM {
            return self.publish_on_pages(round, what, (whole, part), (reader, write));
        }
        if !self.has_room_in_cells(round) {
            return false;
        }
        self.room(round).note(round.number, reader);
        let cell = self.cell(round, self.rank);
        // The cell has room for the data, and nobody reads it.
        write(cell.data(), Stores::Cached);
        cell.publish(round.number, what, whole, cell::Where::Here);
        true
    }

    /// Publishes where data, or room for some, lie in this process's memory, in one piece, unless the cell is
    /// not free yet: then it returns false and has done nothing. They belong to the readers until those
    /// [have finished](Self::is_finished_by) the round.
    pub fn expose(&self, round: Round, what: u32, data: &Buffer, reader: Option<usize>) -> bool {
        if !self.has_room_in_cells(round) {
            return false;
        }
        self.room(round).note(round.number, reader);
        let cell = self.cell(round, self.rank);
        let Some(address) = data.contiguous() else { unreachable!("data with gaps cannot be exposed") };
        // SAFETY: the cell has room for the word, and nobody reads it.
        unsafe { cell.address().write(address.expose_provenance() as u64) };
        cell.publish(round.number, what, data.len(), cell::Where::Exposed);
        self.wake(reader);
        true
    }

    /// Says that data of `len` bytes come to the process `reader` in a message, unless the cell is not free
    /// yet: then it returns false and has done nothing.
    pub fn announce(&self, round: Round, what: u32, len: usize, reader: usize) -> bool {
        if !self.has_room_in_cells(round) {
            return false;
        }
        self.room(round).note(round.number, Some(reader));
        self.cell(round, self.rank).publish(round.number, what, len, cell::Where::InMessage);
        self.wake(Some(reader));
        true
    }

    #[inline(always)]
    fn room(&self, round: Round) -> &Room {
        &self.lanes[round.lane as usize].room
    }

    #[inline(always)]
    fn has_room(&self, round: Round, depth: u32) -> bool {
        self.room(round).is_there(round.number, depth, &InLane { board: self, lane: round.lane })
    }

    #[inline(always)]
    fn has_room_in_cells(&self, round: Round) -> bool {
        self.has_room(round, if round.lane == 0 { DEPTH } else { LANE_DEPTH })
    }

    /// Does the same with data that do not fit into a cell.
    #[inline(never)]
    fn publish_on_pages(
        &self,
        round: Round,
        what: u32,
        (whole, part): (usize, usize),
        (reader, write): (Option<usize>, impl FnOnce(*mut u8, Stores)),
    ) -> bool {
        let number = match round.lane {
            0 => pages::kind_for(part, round.number, &self.pages),
            lane => number_of_lane(lane),
        };
        let Some(pages) = self.pages(number) else { unreachable!("a lane has pages before its first round") };
        if !self.has_room(round, pages.depth()) {
            return false;
        }
        self.room(round).note(round.number, reader);
        let words = self.layout.pages_of(self.rank, number);
        let cell = self.cell(round, self.rank);
        let place = match pages.own(self.domain, words) {
            Some(memory) => {
                let offset = pages.offset(round.number, part);
                // The slot has room for the data, by the limit, and nobody reads it.
                let to = memory.as_ptr().wrapping_add(offset);
                self.stores.copy(part, |stores| write(to, stores));
                // SAFETY: the cell has room for the word, and nobody reads it.
                unsafe { cell.address().write(offset as u64) };
                cell::Where::Pages(number)
            }
            None => cell::Where::Nowhere,
        };
        cell.publish(round.number, what, whole, place);
        true
    }
}

/// The processes of a blackboard, in a lane.
struct InLane<'a> {
    board: &'a Blackboard,
    lane: u32,
}

impl Processes for InLane<'_> {
    fn number(&self) -> usize {
        self.board.processes.len()
    }

    fn own(&self) -> usize {
        self.board.rank
    }

    fn finished(&self, process: usize) -> &Finished {
        self.board.layout.finished(process, self.lane)
    }

    /// Any thread may carry out the next step of a task. (Readers are noted in lane 0 only.)
    fn fills_in_order(&self) -> bool {
        self.board.has_no_tasks()
    }
}
