//! Operations on a communicator's blackboard ([`heddle_comm::blackboard`]), step by step.
//!
//! By `establish.rs` the processes agree that they have one. `machines.rs` tells which of them share a
//! machine.

mod establish;
mod machines;

pub(super) use establish::{on_blackboard, on_blackboard_from_now_on};

use super::messages::{Messages, disagreement};
use super::reduction::Combiner;
use heddle_comm::blackboard::{Blackboard, Data, Published, Round, Span};
use heddle_comm::error::Error;
use heddle_message::buffer::Buffer;
use heddle_message::served_copy::ServedCopy;
use heddle_platform::hint::spin_loop;
use heddle_spec::constants as mpi;
use heddle_transport::Direction;

/// The number of looks at a cell before the thread makes progress meanwhile: about the time of an answer from
/// the other end of the machine.
const LOOKS_AT_FIRST: u32 = 100;

/// The rounds of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds<'a> {
    pub(super) blackboard: &'a Blackboard,
    pub(super) first: Round,
    /// The operation, by its tag.
    pub(super) operation: i32,
}

/// The data that a process has published in a round, or a part of them; or the room that it has exposed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// The number of the round in the operation.
    pub(super) round: u32,
    pub(super) rank: usize,
    /// How many bytes the process should have published.
    pub(super) whole: usize,
    /// Where the part begins.
    pub(super) offset: usize,
}

/// Two vectors: `result = published OP operands`. They may be one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) operands: *const u8,
    pub(super) result: *mut u8,
    pub(super) count: i64,
}

// SAFETY: the vectors belong to the operation until it is over, whichever thread carries it out.
unsafe impl Send for Target {}

impl Rounds<'_> {
    /// Publishes a span of data for the process `reader`, or for all. Returns false if there is no room yet.
    #[inline(always)]
    pub(super) fn publish(&self, round: u32, (data, span): (&Buffer, Span), reader: Option<usize>) -> bool {
        self.blackboard.publish(self.first.after(round), self.operation as u32, (data, span), reader)
    }

    /// Publishes where data in one piece are in this process's memory. Returns false if there is no room yet.
    pub(super) fn expose(&self, round: u32, data: &Buffer, reader: Option<usize>) -> bool {
        self.blackboard.expose(self.first.after(round), self.operation as u32, data, reader)
    }

    /// Returns true if the process `reader`, or each other one, has finished a round.
    pub(super) fn is_finished_by(&self, round: u32, reader: Option<usize>) -> bool {
        self.blackboard.is_finished_by(self.first.after(round), reader)
    }

    /// Copies published data to a span of a buffer, or exposed data to a whole buffer. Returns false if they
    /// are not there yet, or if another process still makes the copy.
    #[inline(always)]
    pub(super) fn fetch(
        &self,
        source: Source,
        (room, span): (&Buffer, Span),
        messages: &mut Messages,
    ) -> bool {
        if messages.are_begun() {
            // The copy that this step has begun.
            return messages.are_complete();
        }
        let Some(published) = self.blackboard.look(self.first.after(source.round), source.rank) else {
            return false;
        };
        if self.agrees(source, &published) {
            self.take(source, published.data, (room, span), messages)
        } else {
            self.take_less(source, &published, room, messages)
        }
    }

    #[inline(always)]
    fn take(
        &self,
        source: Source,
        data: Data,
        (room, span): (&Buffer, Span),
        messages: &mut Messages,
    ) -> bool {
        match data {
            // SAFETY: the part lies in the published data, which nobody changes until this process has
            // finished the round.
            Data::Mapped(data) => room.write(span.start, unsafe {
                std::slice::from_raw_parts(data.wrapping_add(source.offset), span.len)
            }),
            Data::Exposed(address) => return self.fetch_exposed(source, address, room, messages),
            Data::Nowhere => messages.fail(self.no_memory(source)),
        }
        true
    }

    /// Takes data that are other than expected, if they are merely [less](Messages::takes_less).
    #[cold]
    fn take_less(
        &self,
        source: Source,
        published: &Published,
        room: &Buffer,
        messages: &mut Messages,
    ) -> bool {
        let is_less = published.what == self.operation as u32 && published.len < source.whole;
        if !messages.takes_less || !is_less {
            messages.fail(self.reason(source, published));
            return true;
        }
        let room = room.first(published.len);
        self.take(source, published.data, (&room, Span::of(&room)), messages)
    }

    #[inline(always)]
    fn agrees(&self, source: Source, published: &Published) -> bool {
        published.what == self.operation as u32 && published.len == source.whole
    }

    #[inline(never)]
    fn fetch_exposed(&self, source: Source, address: u64, room: &Buffer, messages: &mut Messages) -> bool {
        let address = address.wrapping_add(source.offset as u64);
        let copied = self.blackboard.copy_exposed(source.rank, address, room).is_ok();
        if !copied {
            self.leave_copy_to_owner(source, address, (Direction::Read, room), messages);
        }
        copied
    }

    /// Copies data to room that a process has exposed. Returns false if it is not there yet, or if another
    /// process still makes the copy.
    #[inline(never)]
    pub(super) fn deliver(&self, destination: Source, data: &Buffer, messages: &mut Messages) -> bool {
        if messages.are_begun() {
            // The copy that this step has begun.
            return messages.are_complete();
        }
        self.with(destination, messages, |room, messages| {
            let Data::Exposed(address) = room else {
                messages.fail(self.no_memory(destination));
                return true;
            };
            let address = address.wrapping_add(destination.offset as u64);
            let copied = self.blackboard.copy_to_exposed(destination.rank, address, data).is_ok();
            if !copied {
                self.leave_copy_to_owner(destination, address, (Direction::Write, data), messages);
            }
            copied
        })
    }

    /// Begins a copy that the kernel has refused: the process that has exposed the memory makes it, while it
    /// waits for this one to finish the round. The step is attempted until the copy is over.
    #[cold]
    fn leave_copy_to_owner(
        &self,
        owner: Source,
        address: u64,
        (direction, buffer): (Direction, &Buffer),
        messages: &mut Messages,
    ) {
        let peer = self.blackboard.process(owner.rank) as usize;
        let copy = ServedCopy { direction, peer, address, buffer: *buffer };
        messages.begin_copy(self.blackboard, self.rank_of(owner), copy);
    }

    /// Computes `result = published OP operands`. Returns false if the data are not there yet.
    #[inline(always)]
    pub(super) fn fold(
        &self,
        source: Source,
        target: Target,
        combiner: &Combiner,
        messages: &mut Messages,
    ) -> bool {
        self.with(source, messages, |data, messages| match data {
            Data::Mapped(data) => {
                let data = data.wrapping_add(source.offset);
                // SAFETY: the part has that many elements, and nobody changes it until this process has
                // finished the round; the vectors are the operation's.
                unsafe { combiner.combine((data, target.operands), target.result, target.count) };
                true
            }
            Data::Exposed(_) | Data::Nowhere => {
                messages.fail(self.no_memory(source));
                true
            }
        })
    }

    /// Returns false if a process has not published yet.
    #[inline(always)]
    pub(super) fn see(&self, source: Source, messages: &mut Messages) -> bool {
        self.with(source, messages, |_, _| true)
    }

    #[inline(always)]
    fn with(
        &self,
        source: Source,
        messages: &mut Messages,
        then: impl FnOnce(Data, &mut Messages) -> bool,
    ) -> bool {
        let Some(published) = self.blackboard.look(self.first.after(source.round), source.rank) else {
            return false;
        };
        if self.agrees(source, &published) {
            then(published.data, messages)
        } else {
            messages.fail(self.reason(source, &published));
            true
        }
    }

    /// Needs nothing more of a round. Returns false if this process has to finish earlier ones before.
    #[inline(always)]
    pub(super) fn finish(&self, round: u32) -> bool {
        self.blackboard.finish(self.first.after(round))
    }

    /// Finishes a round when earlier ones are.
    #[cold]
    pub(super) fn finish_late(&self, vni: u32, round: u32) {
        self.until_finished(vni, || self.finish(round));
    }

    /// Attempts a step again and again until it succeeds.
    #[inline(always)]
    pub(super) fn until(&self, vni: u32, mut attempt: impl FnMut() -> bool) {
        if !soon(self.blackboard.has_cores(), &mut attempt) {
            self.blackboard.domain().wait_until(vni, attempt);
        }
    }

    /// Does the same where rounds have to be finished: there is no room yet, or others read still.
    #[inline(always)]
    pub(super) fn until_finished(&self, vni: u32, mut attempt: impl FnMut() -> bool) {
        if !soon(self.blackboard.has_cores(), &mut attempt) {
            self.blackboard.begin_waiting();
            self.blackboard.domain().wait_until(vni, attempt);
            self.blackboard.end_waiting();
        }
    }

    /// The rank in the communicator of a process that publishes.
    fn rank_of(&self, source: Source) -> usize {
        self.blackboard.rank_in_communicator(source.rank)
    }

    #[cold]
    fn no_memory(&self, source: Source) -> Error {
        let (rank, whole) = (self.rank_of(source), source.whole);
        let message = format!("there is no shared memory for the {whole} bytes of rank {rank}");
        Error::new(mpi::MPI_ERR_NO_MEM, message)
    }

    #[cold]
    fn reason(&self, source: Source, published: &Published) -> Error {
        let (rank, whole) = (self.rank_of(source), source.whole);
        if published.what != self.operation as u32 {
            let message = format!(
                "rank {rank} takes part in another collective operation than this rank: all ranks of a \
                 communicator must call them in the same order"
            );
            return Error::new(mpi::MPI_ERR_OTHER, message);
        }
        disagreement(rank, published.len, whole)
    }
}

/// The bytes of whole numbers, which a message or the blackboard takes before the caller goes on.
fn bytes<N: Copy>(numbers: &mut [N]) -> Buffer {
    // SAFETY: the numbers outlive the message, which is complete when its function returns.
    unsafe { Buffer::bytes(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}

/// Attempts a step a few times; returns false if it did not succeed. Where there are more processes than
/// cores, another one may have to run first.
#[inline(always)]
pub(super) fn soon(has_cores: bool, mut attempt: impl FnMut() -> bool) -> bool {
    for _ in 0..if has_cores { LOOKS_AT_FIRST } else { 1 } {
        if attempt() {
            return true;
        }
        spin_loop();
    }
    false
}
