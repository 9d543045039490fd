//! Records the steps of an operation, for its [schedule](super::schedule).
//!
//! A [message](Step::Send) is begun and does not hold up the next step; [`Step::Complete`] is over when no
//! message is in flight.

use super::blackboard::{Source, Target, on_blackboard_from_now_on};
use super::elements::Elements;
use super::messages::Among;
use super::reduction::{Combiner, Reduction};
use heddle_comm::CommRef;
use heddle_comm::blackboard::{Blackboard, Limits, Span};
use heddle_comm::datatype::KeptType;
use heddle_comm::error::Error;
use heddle_message::buffer::Buffer;
use std::mem::take;

/// What a rank does in one step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Begins to send a message.
    Send(Among, usize, Buffer),
    /// Begins to receive a message that fills the buffer.
    Receive(Among, usize, Buffer),
    /// Waits for all messages that were begun.
    Complete,
    Copy(Buffer, Buffer),
    Combine(Operands),
    /// Publishes a span of data in a round on the blackboard, for one process or for all.
    Publish(u32, Buffer, Span, Option<usize>),
    /// Publishes where data or room are.
    Expose(u32, Buffer, Option<usize>),
    /// Waits until one process, or each other one, has finished a round.
    AwaitFinished(u32, Option<usize>),
    /// Waits for published data, and copies them to a span of the buffer.
    Fetch(Source, Buffer, Span),
    /// Waits for published data, and computes with them.
    Fold(Source, Target),
    /// Waits for exposed room, and copies data there.
    Deliver(Source, Buffer),
    /// Waits until a process has published.
    See(Source),
    FinishRound(u32),
    /// Gives the operation the error that was found when its steps were recorded.
    Fail,
}

/// Two vectors: `inout = input OP inout`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operands {
    pub(super) input: *mut u8,
    pub(super) inout: *mut u8,
    pub(super) count: i64,
}

// SAFETY: the vectors belong to the operation until it is over, whichever thread carries it out.
unsafe impl Send for Operands {}

/// The messages begun since the last [`Step::Complete`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Begun {
    #[default]
    Nothing,
    /// Messages that the algorithm sent one after the other. They depend on nothing but what was before the
    /// first of them, so all may be in flight at once.
    Sends,
    /// The same for receives.
    Receives,
    /// A message in each direction.
    Exchange,
    /// Messages that the algorithm itself has begun.
    Any,
}

/// The most parts of a vector that are recorded: each takes several steps.
const MOST_PARTS: u32 = 1024;

/// Records the steps of an operation.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    persistent: bool,
    /// The error of arguments with which it is carried out all the same.
    pub(super) wrong: Option<Error>,
    /// It accepts [less](super::messages::Messages::takes_less) than expected.
    pub(super) takes_less: bool,
    /// What it needs of the blackboard.
    pub(super) plan: Option<Plan>,
    pub(super) steps: Vec<Step>,
    /// The bytes of their buffers.
    pub(super) bytes: usize,
    begun: Begun,
    pub(super) combiner: Option<Combiner>,
    /// The datatypes of the steps' buffers.
    pub(super) types: Vec<KeptType>,
}

/// The rounds of a recorded operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) lane: Lane,
    pub(super) rounds: u32,
    pub(super) operation: i32,
}

/// Where its rounds go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lane {
    /// In the lane of all operations.
    Common,
    /// In that of a persistent operation.
    Own(u32),
}

impl Recorder {
    pub(super) fn new(persistent: bool) -> Recorder {
        Recorder { persistent, ..Recorder::default() }
    }

    /// The blackboard of a communicator. Persistent operations are made by all processes together, so the
    /// communicator gets it now.
    pub(super) fn blackboard_of<'a>(&self, comm: &'a CommRef) -> Option<&'a Blackboard> {
        if self.persistent { on_blackboard_from_now_on(comm) } else { comm.blackboard.get() }
    }

    /// What it can publish on a blackboard.
    pub(super) fn limits(&self, blackboard: &Blackboard) -> Option<Limits> {
        if self.persistent {
            return blackboard.limits_of_lane();
        }
        let limits = blackboard.limits();
        Some(Limits { parts: limits.parts.min(MOST_PARTS), ..limits })
    }

    pub(super) fn take_rounds(&mut self, blackboard: &Blackboard, rounds: u32, operation: i32) {
        let lane = if self.persistent { blackboard.take_lane().map(Lane::Own) } else { Some(Lane::Common) };
        self.plan = lane.map(|lane| Plan { lane, rounds, operation });
    }

    pub(super) fn publish(&mut self, round: u32, (data, span): (Buffer, Span), reader: Option<usize>) {
        self.complete();
        self.begin(Step::Publish(round, data, span, reader), &data);
    }

    pub(super) fn expose(&mut self, round: u32, data: Buffer, reader: Option<usize>) {
        self.complete();
        self.begin(Step::Expose(round, data, reader), &data);
    }

    pub(super) fn await_finished(&mut self, round: u32, reader: Option<usize>) {
        self.steps.push(Step::AwaitFinished(round, reader));
    }

    pub(super) fn fetch(&mut self, source: Source, (room, span): (Buffer, Span)) {
        self.complete();
        self.begin(Step::Fetch(source, room, span), &room);
    }

    pub(super) fn fold(&mut self, reduction: &Reduction<'_>, source: Source, target: Target) {
        self.complete();
        self.combiner.get_or_insert_with(|| reduction.combiner());
        self.steps.push(Step::Fold(source, target));
    }

    pub(super) fn deliver(&mut self, destination: Source, data: Buffer) {
        self.complete();
        self.begin(Step::Deliver(destination, data), &data);
    }

    pub(super) fn see(&mut self, source: Source) {
        self.complete();
        self.steps.push(Step::See(source));
    }

    pub(super) fn finish_round(&mut self, round: u32) {
        self.steps.push(Step::FinishRound(round));
    }

    pub(super) fn send(&mut self, among: Among, to: usize, data: Buffer) {
        self.continue_or_complete(Begun::Sends);
        self.begin(Step::Send(among, to, data), &data);
    }

    pub(super) fn receive(&mut self, among: Among, from: usize, room: Buffer) {
        self.continue_or_complete(Begun::Receives);
        self.begin(Step::Receive(among, from, room), &room);
    }

    pub(super) fn exchange(
        &mut self,
        among: Among,
        (to, data): (usize, Buffer),
        (from, room): (usize, Buffer),
    ) {
        self.complete();
        self.begin(Step::Receive(among, from, room), &room);
        self.begin(Step::Send(among, to, data), &data);
        self.begun = Begun::Exchange;
    }

    pub(super) fn begin_send(&mut self, among: Among, to: usize, data: Buffer) {
        self.continue_or_complete(Begun::Any);
        self.begin(Step::Send(among, to, data), &data);
    }

    pub(super) fn begin_receive(&mut self, among: Among, from: usize, room: Buffer) {
        self.continue_or_complete(Begun::Any);
        self.begin(Step::Receive(among, from, room), &room);
    }

    /// Lets messages that were begun in this manner be in flight together, and no others.
    fn continue_or_complete(&mut self, begun: Begun) {
        if self.begun != begun {
            self.complete();
            self.begun = begun;
        }
    }

    pub(super) fn complete(&mut self) {
        if take(&mut self.begun) != Begun::Nothing {
            self.steps.push(Step::Complete);
        }
    }

    pub(super) fn copy(&mut self, from: &Buffer, to: &Buffer) {
        self.complete();
        self.keep_type_of(from);
        self.keep_type_of(to);
        self.steps.push(Step::Copy(*from, *to));
    }

    pub(super) fn combine(
        &mut self,
        reduction: &Reduction<'_>,
        (input, inout): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        self.complete();
        self.combiner.get_or_insert_with(|| reduction.combiner());
        self.steps.push(Step::Combine(Operands { input: input.address(), inout: inout.address(), count }));
    }

    fn begin(&mut self, step: Step, buffer: &Buffer) {
        self.bytes += buffer.len();
        self.keep_type_of(buffer);
        self.steps.push(step);
    }

    /// Keeps the datatype of a buffer, which its caller holds for the call only.
    fn keep_type_of(&mut self, buffer: &Buffer) {
        let datatype = buffer.datatype();
        if self.types.iter().all(|kept| kept.as_ptr() != datatype) {
            // SAFETY: buffers are made of datatypes that the caller holds.
            self.types.extend(unsafe { KeptType::new(datatype) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorded steps, a letter each.
    fn steps(record: impl FnOnce(&mut Recorder)) -> String {
        let mut recorder = Recorder::default();
        record(&mut recorder);
        recorder.complete();
        let letter = |step: &Step| match step {
            Step::Send(..) => 's',
            Step::Receive(..) => 'r',
            Step::Complete => '.',
            Step::Copy(..) => 'c',
            Step::Combine(_) => '+',
            _ => '#',
        };
        recorder.steps.iter().map(letter).collect()
    }

    const PEERS: Among = Among::Peers;

    fn none() -> Buffer {
        Buffer::empty()
    }

    #[test]
    fn only_messages_that_follow_each_other_are_in_flight_together() {
        let (to, from) = ((1, none()), (2, none()));
        assert_eq!(steps(|it| (0..3).for_each(|rank| it.send(PEERS, rank, none()))), "sss.");
        assert_eq!(steps(|it| (0..3).for_each(|rank| it.receive(PEERS, rank, none()))), "rrr.");
        assert_eq!(steps(|it| (0..2).for_each(|_| it.exchange(PEERS, to, from))), "rs.rs.");
        let mixed = steps(|it| {
            it.send(PEERS, 1, none());
            it.receive(PEERS, 1, none());
            it.send(PEERS, 1, none());
            it.copy(&none(), &none());
        });
        assert_eq!(mixed, "s.r.s.c");
    }

    #[test]
    fn messages_that_an_algorithm_has_begun_end_where_it_says_so() {
        let batch = |it: &mut Recorder| {
            it.begin_receive(PEERS, 1, none());
            it.begin_send(PEERS, 1, none());
            it.begin_send(PEERS, 2, none());
        };
        assert_eq!(steps(batch), "rss.");
        let after_others = steps(|it| {
            it.exchange(PEERS, (1, none()), (2, none()));
            batch(it);
            it.complete();
            it.send(PEERS, 1, none());
            batch(it);
            it.copy(&none(), &none());
        });
        assert_eq!(after_others, "rs.rss.s.rss.c");
    }
}
