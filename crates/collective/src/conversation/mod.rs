//! The description of a collective operation, step by step: an algorithm tells a [`Conversation`] what this
//! rank does.
//!
//! A conversation carries each step out at once, or records it in a [`Schedule`]. So each algorithm is
//! written once, for the blocking, the nonblocking and the persistent form of its operation. What it does may
//! depend on ranks and counts, but not on data: a recorded step has not happened yet.
//!
//! | file | idea |
//! |---|---|
//! | `subgroup.rs` | ranks that act among themselves: those of a machine, or the leaders |
//! | `by_leaders.rs` | the parts of an operation that they have |
//! | `temporaries.rs` | the library's memory for an operation |

mod by_leaders;
mod subgroup;
mod temporaries;

pub(super) use subgroup::Leaders;

use crate::blackboard::{Rounds, Source, Target, on_blackboard};
use crate::elements::Elements;
use crate::memory::Memory;
use crate::messages::{Among, Channel, Messages};
use crate::recorder::Recorder;
use crate::reduction::Reduction;
use crate::schedule::Schedule;
use heddle_comm::blackboard::{Blackboard, Limits, Span};
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm};
use heddle_message::buffer::Buffer;
use heddle_message::progress::ended_promptly;
use heddle_settings::Algorithm;
use std::mem::replace;
use subgroup::Subgroup;

/// A collective operation talking to the other ranks.
#[derive(Debug)]
pub struct Conversation<'a> {
    comm: &'a CommRef,
    /// Of an intercommunicator: the communicator of the local group.
    local: Option<KeptComm>,
    /// Whom the ranks of messages name now.
    among: Among,
    /// If some ranks act among themselves now: those.
    subgroup: Option<Subgroup<'a>>,
    /// This process's rank among the ranks that act now.
    rank: usize,
    /// The number of ranks that act now.
    size: usize,
    tag: i32,
    /// Its rounds on the blackboard, if it is carried out there at once.
    rounds: Option<Rounds<'a>>,
    /// The library's own memory, which lives as long as the operation.
    memory: Vec<Memory>,
    form: Form,
}

/// What becomes of a step.
#[derive(Debug)]
enum Form {
    /// It is carried out at once.
    Immediate(Messages),
    Recorded(Recorder),
}

impl<'a> Conversation<'a> {
    /// One that carries its steps out.
    pub(super) fn immediate(comm: &'a CommRef) -> Conversation<'a> {
        Conversation::new(comm, Form::Immediate(Messages::default()))
    }

    /// One that records its steps, to be carried out once, or again and again if it is persistent.
    pub(super) fn recorded(comm: &'a CommRef, persistent: bool) -> Conversation<'a> {
        Conversation::new(comm, Form::Recorded(Recorder::new(persistent)))
    }

    fn new(comm: &'a CommRef, form: Form) -> Conversation<'a> {
        Conversation {
            comm,
            local: comm.local(),
            among: Among::Peers,
            subgroup: None,
            rank: comm.rank(),
            size: comm.size(),
            tag: 0,
            rounds: None,
            memory: Vec::new(),
            form,
        }
    }

    /// Returns true if the ranks of messages are those of an intercommunicator's remote group.
    pub(super) fn is_between_groups(&self) -> bool {
        self.local.is_some() && self.among == Among::Peers
    }

    /// The number of processes in an intercommunicator's remote group.
    pub(super) fn remote_size(&self) -> usize {
        self.comm.peers.size()
    }

    /// Describes what the processes of an intercommunicator's local group do among themselves.
    pub(super) fn within_group<R>(&mut self, describe: impl FnOnce(&mut Conversation<'a>) -> R) -> R {
        let before = replace(&mut self.among, Among::LocalGroup);
        let result = describe(self);
        self.among = before;
        result
    }

    /// Names the operation: the tag of its messages, if it is carried out at once. Messages of another
    /// operation that a rank calls by mistake then do not match.
    pub(super) fn name(&mut self, tag: i32) {
        self.tag = tag;
    }

    pub(super) fn comm(&self) -> &'a CommRef {
        self.comm
    }

    /// This process's rank among those that act now: all, those of a machine, or the leaders.
    #[inline(always)]
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks that act now.
    #[inline(always)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The other ranks, from the next one on: so not all turn to the same rank at once.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (rank, size) = (self.rank(), self.size());
        (1..size).map(move |distance| (rank + distance) % size)
    }

    /// Sends a message.
    pub(super) fn send(&mut self, to: usize, data: Buffer) {
        let to = self.rank_in_communicator(to);
        let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
        match &mut self.form {
            Form::Immediate(messages) => messages.send(channel, to, data),
            Form::Recorded(recorder) => recorder.send(self.among, to, data),
        }
    }

    /// Receives a message that fills a buffer.
    pub(super) fn receive(&mut self, from: usize, room: Buffer) {
        let from = self.rank_in_communicator(from);
        let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
        match &mut self.form {
            Form::Immediate(messages) => messages.receive(channel, from, room),
            Form::Recorded(recorder) => recorder.receive(self.among, from, room),
        }
    }

    /// Sends one message and receives another.
    pub(super) fn exchange(&mut self, (to, data): (usize, Buffer), (from, room): (usize, Buffer)) {
        let outgoing = (self.rank_in_communicator(to), data);
        let incoming = (self.rank_in_communicator(from), room);
        let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
        match &mut self.form {
            Form::Immediate(messages) => messages.exchange(channel, outgoing, incoming),
            Form::Recorded(recorder) => recorder.exchange(self.among, outgoing, incoming),
        }
    }

    /// Begins to send a message; [`Conversation::complete`] waits for it.
    pub(super) fn begin_send(&mut self, to: usize, data: Buffer) {
        let to = self.rank_in_communicator(to);
        let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
        match &mut self.form {
            Form::Immediate(messages) => messages.begin_send(channel, to, data),
            Form::Recorded(recorder) => recorder.begin_send(self.among, to, data),
        }
    }

    /// Begins to receive a message that fills a buffer; [`Conversation::complete`] waits for it.
    pub(super) fn begin_receive(&mut self, from: usize, room: Buffer) {
        let from = self.rank_in_communicator(from);
        let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
        match &mut self.form {
            Form::Immediate(messages) => messages.begin_receive(channel, from, room),
            Form::Recorded(recorder) => recorder.begin_receive(self.among, from, room),
        }
    }

    /// Keeps an error of this rank's arguments with which the operation goes on, so that no other rank waits
    /// for this one.
    pub(super) fn fail(&mut self, error: Error) {
        match &mut self.form {
            Form::Immediate(messages) => messages.fail(error),
            Form::Recorded(recorder) => _ = recorder.wrong.get_or_insert(error),
        }
    }

    /// Lets ranks give less than is expected of them, as all other libraries do here, unless the program is
    /// to keep to the standard.
    pub(super) fn take_less(&mut self) {
        let takes_less = !heddle_settings::is_strict();
        match &mut self.form {
            Form::Immediate(messages) => messages.takes_less = takes_less,
            Form::Recorded(recorder) => recorder.takes_less = takes_less,
        }
    }

    /// Waits for all messages that were begun.
    pub(super) fn complete(&mut self) {
        match &mut self.form {
            Form::Immediate(messages) => messages.complete(),
            Form::Recorded(recorder) => recorder.complete(),
        }
    }

    /// Copies data within the process, as if the rank sent it to itself.
    pub(super) fn copy(&mut self, from: &Buffer, to: &Buffer) {
        let rank = self.comm.rank();
        match &mut self.form {
            Form::Immediate(messages) => messages.copy(rank, from, to),
            Form::Recorded(recorder) => recorder.copy(from, to),
        }
    }

    /// Computes `inout = input OP inout` on `count` elements. An operation has one operator.
    pub(super) fn combine(
        &mut self,
        reduction: &Reduction<'_>,
        (input, inout): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        match &mut self.form {
            Form::Immediate(_) => reduction.apply(input, inout, count),
            Form::Recorded(recorder) => recorder.combine(reduction, (input, inout), count),
        }
    }

    /// What the operation can publish on the communicator's blackboard; `None` if there is none, or no lane
    /// for it, or the algorithm is another one.
    #[inline(always)]
    pub(super) fn limits(&self, algorithm: Algorithm) -> Option<Limits> {
        if self.size() == 1 || self.local.is_some() || !algorithm.allows_blackboard() {
            return None;
        }
        match &self.form {
            Form::Immediate(_) => {
                on_blackboard(self.comm).or_else(|| self.blackboard_of_subgroup()).map(Blackboard::limits)
            }
            Form::Recorded(recorder) => recorder.limits(recorder.blackboard_of(self.comm)?),
        }
    }

    /// Says that the operation takes this number of rounds on the blackboard, and sends no messages. To be
    /// called once, after [`limits`](Self::limits) has returned some, and as soon as
    /// nothing can fail any more: all ranks count the rounds. In an operation by leaders that is true of each
    /// of the parts that it has on a machine.
    #[inline(always)]
    pub(super) fn take_rounds(&mut self, rounds: u32) {
        let of_comm = self.comm.blackboard.get();
        let Some(blackboard) = of_comm.or_else(|| self.blackboard_of_subgroup()) else { return };
        match &mut self.form {
            Form::Immediate(_) => {
                let first = blackboard.begin(rounds);
                self.rounds = Some(Rounds { blackboard, first, operation: self.tag });
            }
            Form::Recorded(recorder) => recorder.take_rounds(blackboard, rounds, self.tag),
        }
    }

    /// Publishes data in a round, for the process `reader` or for all.
    #[inline(always)]
    pub(super) fn publish(&mut self, round: u32, data: Buffer, reader: Option<usize>) {
        self.publish_part(round, (data, Span::of(&data)), reader);
    }

    /// Publishes a span of data in a round, for the process `reader` or for all.
    #[inline(always)]
    pub(super) fn publish_part(&mut self, round: u32, (data, span): (Buffer, Span), reader: Option<usize>) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.publish(round, (data, span), reader),
            (_, Some(rounds)) => {
                rounds.until_finished(self.comm.vni(), || rounds.publish(round, (&data, span), reader));
            }
            _ => {}
        }
    }

    /// Publishes where data or room in one piece are, for the process `reader` or for all; they belong to
    /// those until [`await_finished`](Self::await_finished).
    pub(super) fn expose(&mut self, round: u32, data: Buffer, reader: Option<usize>) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.expose(round, data, reader),
            (_, Some(rounds)) => {
                rounds.until_finished(self.comm.vni(), || rounds.expose(round, &data, reader));
            }
            _ => {}
        }
    }

    /// Waits until the process `reader`, or each other one, has finished a round.
    pub(super) fn await_finished(&mut self, round: u32, reader: Option<usize>) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.await_finished(round, reader),
            (_, Some(rounds)) => {
                rounds.until_finished(self.comm.vni(), || rounds.is_finished_by(round, reader));
            }
            _ => {}
        }
    }

    /// Waits for published data, and copies them.
    #[inline(always)]
    pub(super) fn fetch(&mut self, source: Source, room: Buffer) {
        self.fetch_part(source, (room, Span::of(&room)));
    }

    /// Waits for published data, and copies them to a span of a buffer.
    #[inline(always)]
    pub(super) fn fetch_part(&mut self, source: Source, (room, span): (Buffer, Span)) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.fetch(source, (room, span)),
            (Form::Immediate(messages), Some(rounds)) => {
                rounds.until(self.comm.vni(), || rounds.fetch(source, (&room, span), messages));
            }
            _ => {}
        }
    }

    /// Waits for published data, and computes `result = data OP operands` on `count` elements of a datatype
    /// without gaps.
    #[inline(always)]
    pub(super) fn fold(
        &mut self,
        reduction: &Reduction<'_>,
        source: Source,
        (operands, result): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        let target = Target { operands: operands.address(), result: result.address(), count };
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.fold(reduction, source, target),
            (Form::Immediate(messages), Some(rounds)) => {
                let combiner = reduction.combiner();
                rounds.until(self.comm.vni(), || rounds.fold(source, target, &combiner, messages));
            }
            _ => {}
        }
    }

    /// Waits until a process has exposed room, and copies data there.
    pub(super) fn deliver(&mut self, destination: Source, data: Buffer) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.deliver(destination, data),
            (Form::Immediate(messages), Some(rounds)) => {
                rounds.until(self.comm.vni(), || rounds.deliver(destination, &data, messages));
            }
            _ => {}
        }
    }

    /// Waits until a process has published.
    #[inline(always)]
    pub(super) fn see(&mut self, source: Source) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.see(source),
            (Form::Immediate(messages), Some(rounds)) => {
                rounds.until(self.comm.vni(), || rounds.see(source, messages));
            }
            _ => {}
        }
    }

    /// Needs nothing more of a round.
    #[inline(always)]
    pub(super) fn finish_round(&mut self, round: u32) {
        match (&mut self.form, self.rounds) {
            (Form::Recorded(recorder), _) => recorder.finish_round(round),
            (_, Some(rounds)) => {
                if !rounds.finish(round) {
                    rounds.finish_late(self.comm.vni(), round);
                }
                ended_promptly(self.comm.vni());
            }
            _ => {}
        }
    }

    /// The result of an operation that was carried out: the first error, if there was one.
    ///
    /// # Errors
    /// That error.
    pub(super) fn finish(mut self) -> Result<()> {
        match &mut self.form {
            Form::Immediate(messages) => messages.take_error().map_or(Ok(()), Err),
            Form::Recorded(_) => unreachable!("a recorded operation has no result yet"),
        }
    }

    /// The recorded steps, whose messages will have this tag.
    pub(super) fn into_schedule(self, tag: i32) -> Schedule {
        match self.form {
            Form::Recorded(recorder) => {
                Schedule::new((self.comm.keep(), self.local), tag, recorder, self.memory)
            }
            Form::Immediate(_) => unreachable!("the steps were carried out"),
        }
    }
}
