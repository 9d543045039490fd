//! The rounds of an operation: they carry its steps out.

use super::step::{RoundStep, Source, Target};
use crate::data::Combiner;
use crate::messages::{Messages, disagreement};
use heddle_blackboard::{Blackboard, Data, Published, Round, Span};
use heddle_comm::CommRef;
use heddle_comm::error::Error;
use heddle_message::buffer::Buffer;
use heddle_message::served_copy::ServedCopy;
use heddle_model::counters::{self, CountedEvent};
use heddle_p2p::{LongWait, ranks_disagree};
use heddle_platform::hint::spin_loop;
use heddle_spec::constants as mpi;
use heddle_transport::CopyDirection;

/// The number of looks at a cell before the thread makes progress meanwhile: about the time of an answer from
/// the other end of the machine.
const LOOKS_AT_FIRST: u32 = 100;

/// The rounds of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds<'a> {
    pub(crate) comm: &'a CommRef,
    pub(crate) blackboard: &'a Blackboard,
    pub(crate) first: Round,
    /// The operation, by its tag.
    pub(crate) operation: i32,
}

impl Rounds<'_> {
    /// Carries a step out.
    #[inline(always)]
    pub(crate) fn carry_out(&self, vni: u32, step: &RoundStep, messages: &mut Messages) {
        if !self.attempt(step, messages) {
            self.wait_for(vni, step, messages);
        }
    }

    /// Waits for what a process publishes in a round; `None` if it takes part in another operation, which is
    /// an error.
    #[inline(always)]
    pub(crate) fn learn(&self, vni: u32, source: &Source, messages: &mut Messages) -> Option<Published> {
        let round = self.first.after(source.round);
        let published = match self.blackboard.look(round, source.rank) {
            Some(published) => published,
            None => self.await_published(vni, source, messages)?,
        };
        if published.what != self.operation as u32 {
            messages.lose(self.other_operation(source));
            return None;
        }
        Some(published)
    }

    #[inline(never)]
    fn await_published(&self, vni: u32, source: &Source, messages: &mut Messages) -> Option<Published> {
        let round = self.first.after(source.round);
        let is_there = || self.blackboard.look(round, source.rank).is_some();
        if !soon(self.blackboard.has_cores(), is_there) {
            let (mut long_wait, rank) = (LongWait::default(), self.rank_of(source));
            self.blackboard
                .domain()
                .wait_until(vni, || is_there() || long_wait.is_in_vain(self.comm, vni, Some(rank)));
        }
        let published = self.blackboard.look(round, source.rank);
        if published.is_none() {
            messages.lose(ranks_disagree());
        }
        published
    }

    /// Attempts a step again and again until it succeeds, and makes progress meanwhile.
    #[inline(never)]
    fn wait_for(&self, vni: u32, step: &RoundStep, messages: &mut Messages) {
        if soon(self.blackboard.has_cores(), || self.attempt(step, messages)) {
            return;
        }
        let awaits_readers = step.awaits_readers();
        if awaits_readers {
            self.blackboard.begin_waiting();
        }
        let (mut long_wait, source) = (LongWait::default(), step.source().map(|source| self.rank_of(source)));
        self.blackboard.domain().wait_until(vni, || {
            self.attempt(step, messages)
                || long_wait.is_in_vain(self.comm, vni, source)
                    && self.give_up(step, &mut long_wait, messages)
        });
        if awaits_readers {
            self.blackboard.end_waiting();
        }
    }

    /// Attempts a step no more, since the ranks disagree. Returns false if that has to wait: a copy that has
    /// begun goes on, and so does one that others may have begun.
    #[cold]
    pub(crate) fn give_up(
        &self,
        step: &RoundStep,
        long_wait: &mut LongWait,
        messages: &mut Messages,
    ) -> bool {
        if messages.are_begun() {
            return false;
        }
        messages.lose(ranks_disagree());
        let RoundStep::AwaitFinished(round, _) = step else { return true };
        self.blackboard.withdraw(self.first.after(*round));
        long_wait.is_exhausted()
    }

    /// Carries a step out if that takes no waiting; otherwise returns false, and the step is to be attempted
    /// again, before any other.
    #[inline(always)]
    pub(crate) fn attempt(&self, step: &RoundStep, messages: &mut Messages) -> bool {
        let (blackboard, what) = (self.blackboard, self.operation as u32);
        let number = |round| self.first.after(round);
        match step {
            RoundStep::Publish(round, data, span, reader) => {
                blackboard.publish(number(*round), what, (data, *span), *reader)
            }
            RoundStep::PublishBlocks(round, kept) => {
                blackboard.publish_blocks(number(*round), what, kept.blocks())
            }
            RoundStep::Expose(round, data, reader) => blackboard.expose(number(*round), what, data, *reader),
            RoundStep::Announce(round, len, reader) => {
                blackboard.announce(number(*round), what, *len, *reader)
            }
            RoundStep::AwaitFinished(round, reader) => blackboard.is_finished_by(number(*round), *reader),
            RoundStep::Fetch(source, room, span) => self.fetch(source, (room, *span), messages),
            RoundStep::FetchBlock(source, room) => self.fetch_block(source, room, messages),
            RoundStep::Fold(source, target, combiner) => self.fold(source, target, combiner, messages),
            RoundStep::Deliver(destination, data) => self.deliver(destination, data, messages),
            RoundStep::See(source) => self.with(source, messages, |_, _| true),
            RoundStep::Finish(round) => blackboard.finish(number(*round)),
        }
    }

    /// Copies published data to a span of a buffer, or exposed data to a whole buffer. Returns false if they
    /// are not there yet, or if another process still makes the copy.
    #[inline(always)]
    fn fetch(&self, source: &Source, (room, span): (&Buffer, Span), messages: &mut Messages) -> bool {
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

    /// Copies the block of this process among published ones to a buffer. Returns false if they are not there
    /// yet, or if another process still makes the copy.
    #[inline(never)]
    fn fetch_block(&self, source: &Source, room: &Buffer, messages: &mut Messages) -> bool {
        if messages.are_begun() {
            // The copy that this step has begun.
            return messages.are_complete();
        }
        let Some(published) = self.blackboard.look(self.first.after(source.round), source.rank) else {
            return false;
        };
        match published.block(self.blackboard.rank(), self.blackboard.size()) {
            Some(block) if self.agrees(source, &block) => {
                self.take(source, block.data, (room, Span::of(room)), messages)
            }
            Some(block) => self.take_less(source, &block, room, messages),
            None => {
                let is_other = published.what != self.operation as u32;
                let why = if is_other { self.reason(source, &published) } else { self.no_memory(source) };
                messages.lose(why);
                true
            }
        }
    }

    #[inline(always)]
    pub(crate) fn take(
        &self,
        source: &Source,
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
            Data::InMessage => messages.lose(self.other_operation(source)),
            Data::Nowhere => messages.lose(self.no_memory(source)),
        }
        true
    }

    /// Takes data that are other than expected, if they are merely [less](Messages::takes_less).
    #[cold]
    fn take_less(
        &self,
        source: &Source,
        published: &Published,
        room: &Buffer,
        messages: &mut Messages,
    ) -> bool {
        let is_less = published.what == self.operation as u32 && published.len < source.whole;
        if !messages.takes_less || !is_less {
            messages.lose(self.reason(source, published));
            return true;
        }
        let room = room.first(published.len);
        self.take(source, published.data, (&room, Span::of(&room)), messages)
    }

    #[inline(always)]
    fn agrees(&self, source: &Source, published: &Published) -> bool {
        published.what == self.operation as u32 && published.len == source.whole
    }

    #[inline(never)]
    fn fetch_exposed(&self, source: &Source, address: u64, room: &Buffer, messages: &mut Messages) -> bool {
        let address = address.wrapping_add(source.offset as u64);
        let copied = self.blackboard.copy_exposed(source.rank, address, room).is_ok();
        if copied {
            counters::count(CountedEvent::SingleCopy, 1);
        } else {
            self.leave_copy_to_owner(source, address, (CopyDirection::Read, room), messages);
        }
        copied
    }

    /// Copies data to room that a process has exposed. Returns false if it is not there yet, or if another
    /// process still makes the copy.
    #[inline(never)]
    fn deliver(&self, destination: &Source, data: &Buffer, messages: &mut Messages) -> bool {
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
            if copied {
                counters::count(CountedEvent::SingleCopy, 1);
            } else {
                self.leave_copy_to_owner(destination, address, (CopyDirection::Write, data), messages);
            }
            copied
        })
    }

    /// Begins a copy that the kernel has refused: the process that has exposed the memory makes it, while it
    /// waits for this one to finish the round. The step is attempted until the copy is over.
    #[cold]
    fn leave_copy_to_owner(
        &self,
        owner: &Source,
        address: u64,
        (direction, buffer): (CopyDirection, &Buffer),
        messages: &mut Messages,
    ) {
        let peer = self.blackboard.process(owner.rank) as usize;
        let copy = ServedCopy { direction, peer, address, buffer: *buffer };
        messages.begin_copy(self.blackboard, self.rank_of(owner), copy);
    }

    /// Computes `result = published OP operands`. Returns false if the data are not there yet.
    #[inline(always)]
    fn fold(&self, source: &Source, target: &Target, combiner: &Combiner, messages: &mut Messages) -> bool {
        self.with(source, messages, |data, messages| match data {
            Data::Mapped(data) => {
                let data = data.wrapping_add(source.offset);
                // SAFETY: the part has that many elements, and nobody changes it until this process has
                // finished the round; the vectors are the operation's.
                unsafe { combiner.combine((data, target.operands), target.result, target.count) };
                true
            }
            Data::Exposed(_) | Data::InMessage | Data::Nowhere => {
                messages.lose(self.no_memory(source));
                true
            }
        })
    }

    #[inline(always)]
    fn with(
        &self,
        source: &Source,
        messages: &mut Messages,
        then: impl FnOnce(Data, &mut Messages) -> bool,
    ) -> bool {
        let Some(published) = self.blackboard.look(self.first.after(source.round), source.rank) else {
            return false;
        };
        if self.agrees(source, &published) {
            then(published.data, messages)
        } else {
            messages.lose(self.reason(source, &published));
            true
        }
    }

    /// The rank in the communicator of a process that publishes.
    fn rank_of(&self, source: &Source) -> usize {
        self.blackboard.rank_in_communicator(source.rank)
    }

    #[cold]
    fn no_memory(&self, source: &Source) -> Error {
        let (rank, whole) = (self.rank_of(source), source.whole);
        let message = format!("there is no shared memory for the {whole} bytes of rank {rank}");
        Error::new(mpi::MPI_ERR_NO_MEM, message)
    }

    #[cold]
    fn reason(&self, source: &Source, published: &Published) -> Error {
        if published.what != self.operation as u32 {
            return self.other_operation(source);
        }
        disagreement(self.rank_of(source), published.len, source.whole)
    }

    #[cold]
    fn other_operation(&self, source: &Source) -> Error {
        let message = format!(
            "rank {} takes part in another collective operation than this rank: all ranks of a communicator must \
             call them in the same order",
            self.rank_of(source)
        );
        Error::new(mpi::MPI_ERR_OTHER, message)
    }
}

/// Attempts a step a few times; returns false if it did not succeed. Where there are more processes than
/// cores, another one may have to run first.
#[inline(always)]
pub(crate) fn soon(has_cores: bool, mut attempt: impl FnMut() -> bool) -> bool {
    for _ in 0..if has_cores { LOOKS_AT_FIRST } else { 1 } {
        if attempt() {
            return true;
        }
        spin_loop();
    }
    false
}
