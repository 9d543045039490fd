//! An operation that has taken rounds on the blackboard: its steps there.

use super::description::{Conversation, Form};
use crate::blackboard::{KeptBlocks, RoundStep, Rounds, Source, Target, on_blackboard};
use crate::data::{Elements, Reduction};
use crate::steps::Step;
use heddle_blackboard::{Blackboard, BlockTable, Data, Limits, Published, Round, Span};
use heddle_message::buffer::Buffer;
use heddle_message::progress::{Awaited, ended_promptly};
use heddle_settings::Algorithm;
use std::ops::{Deref, DerefMut};

/// The conversation of an operation that has taken rounds.
#[derive(Debug)]
pub(crate) struct OnBlackboard<'t, 'a> {
    talk: &'t mut Conversation<'a>,
    /// If the operation is recorded, each start of its schedule takes other rounds of this blackboard.
    rounds: Rounds<'a>,
}

impl<'a> Deref for OnBlackboard<'_, 'a> {
    type Target = Conversation<'a>;

    #[inline(always)]
    fn deref(&self) -> &Conversation<'a> {
        self.talk
    }
}

impl DerefMut for OnBlackboard<'_, '_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.talk
    }
}

impl<'a> Conversation<'a> {
    /// What the operation can publish on the communicator's blackboard; `None` if there is none, or no lane
    /// for it, or the algorithm is another one.
    #[inline(always)]
    pub(crate) fn limits(&self, algorithm: Algorithm) -> Option<Limits> {
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

    /// Takes this number of rounds on the blackboard, in which the operation sends no messages. To be
    /// called once, after [`limits`](Self::limits) has returned some, and as soon as
    /// nothing can fail any more: all ranks count the rounds. In an operation by leaders that is true of each
    /// of the parts that it has on a machine.
    #[inline(always)]
    pub(crate) fn take_rounds(&mut self, rounds: u32) -> OnBlackboard<'_, 'a> {
        let of_comm = self.comm.blackboard.get();
        let Some(blackboard) = of_comm.or_else(|| self.blackboard_of_subgroup()) else {
            unreachable!("rounds are taken where `limits` has found a blackboard")
        };
        let first = match &mut self.form {
            Form::Immediate(_) => blackboard.begin(rounds),
            Form::Recorded(recorder) => {
                recorder.take_rounds(blackboard, rounds, self.tag);
                Round::default()
            }
        };
        OnBlackboard {
            rounds: Rounds { comm: self.comm, blackboard, first, operation: self.tag },
            talk: self,
        }
    }

    /// Returns true if the steps are recorded: then the operation learns nothing of other ranks.
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(self.form, Form::Recorded(_))
    }
}

impl OnBlackboard<'_, '_> {
    /// Publishes data in a round, for the process `reader` or for all.
    #[inline(always)]
    pub(crate) fn publish(&mut self, round: u32, data: Buffer, reader: Option<usize>) {
        self.publish_part(round, (data, Span::of(&data)), reader);
    }

    /// Publishes a span of data in a round, for the process `reader` or for all.
    #[inline(always)]
    pub(crate) fn publish_part(&mut self, round: u32, (data, span): (Buffer, Span), reader: Option<usize>) {
        self.step(RoundStep::Publish(round, data, span, reader));
    }

    /// Publishes a block for each process.
    pub(crate) fn publish_blocks(&mut self, round: u32, blocks: BlockTable) {
        let blocks = match &mut self.talk.form {
            Form::Immediate(_) => &blocks,
            Form::Recorded(recorder) => recorder.keep_blocks(blocks),
        };
        // SAFETY: the step is over before this function ends, or is one of the recorder's, which keeps them.
        let kept = unsafe { KeptBlocks::new(blocks) };
        self.step(RoundStep::PublishBlocks(round, kept));
    }

    /// Publishes where data or room in one piece are, for the process `reader` or for all; they belong to
    /// those until [`await_finished`](Self::await_finished).
    pub(crate) fn expose(&mut self, round: u32, data: Buffer, reader: Option<usize>) {
        self.step(RoundStep::Expose(round, data, reader));
    }

    /// Says in a round that data of `len` bytes come to the process `reader` in a message.
    pub(crate) fn announce(&mut self, round: u32, len: usize, reader: usize) {
        self.step(RoundStep::Announce(round, len, reader));
    }

    /// Waits for what a process publishes in a round, and returns it as it is: of any length, and also if it
    /// comes in a message. `None` if the process takes part in another operation, which is an error. Not for
    /// an operation that [is recorded](Conversation::is_recorded).
    #[inline(always)]
    pub(crate) fn learn(&mut self, source: Source) -> Option<Published> {
        let vni = self.talk.comm.vni();
        match &mut self.talk.form {
            Form::Immediate(messages) => self.rounds.learn(vni, &source, messages),
            Form::Recorded(_) => unreachable!("a recorded operation learns nothing"),
        }
    }

    /// Copies data that [are published](Self::learn) to all of a buffer. Returns false if they come in a
    /// message, or if another process still copies them.
    #[inline(always)]
    pub(crate) fn take(&mut self, source: Source, published: &Published, room: Buffer) -> bool {
        match (published.data, &mut self.talk.form) {
            (Data::InMessage, _) | (_, Form::Recorded(_)) => false,
            (data, Form::Immediate(messages)) => {
                self.rounds.take(&source, data, (&room, Span::of(&room)), messages)
            }
        }
    }

    /// Takes more rounds, behind those that it has. Not for an operation that is recorded.
    pub(crate) fn take_more_rounds(&mut self, rounds: u32) {
        debug_assert!(!self.talk.is_recorded());
        self.rounds.blackboard.begin(rounds);
    }

    /// Keeps the error for a rank that gives another number of bytes than expected, unless it may give less.
    pub(crate) fn disagree(&mut self, from: usize, len: usize, expected: usize) {
        let from = self.rounds.blackboard.rank_in_communicator(from);
        if let Form::Immediate(messages) = &mut self.talk.form {
            messages.disagree(from, len, expected);
        }
    }

    /// Waits until the process `reader`, or each other one, has finished a round.
    pub(crate) fn await_finished(&mut self, round: u32, reader: Option<usize>) {
        self.step(RoundStep::AwaitFinished(round, reader));
    }

    /// Waits for published data, and copies them.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, source: Source, room: Buffer) {
        self.fetch_part(source, (room, Span::of(&room)));
    }

    /// Waits for published data, and copies them to a span of a buffer.
    #[inline(always)]
    pub(crate) fn fetch_part(&mut self, source: Source, (room, span): (Buffer, Span)) {
        self.step(RoundStep::Fetch(source, room, span));
    }

    /// Waits for published blocks, and copies that of this process. `source` names all of the block.
    pub(crate) fn fetch_block(&mut self, source: Source, room: Buffer) {
        self.step(RoundStep::FetchBlock(source, room));
    }

    /// Waits for published data, and computes `result = data OP operands` on `count` elements of a datatype
    /// without gaps.
    #[inline(always)]
    pub(crate) fn fold(
        &mut self,
        reduction: &Reduction<'_>,
        source: Source,
        (operands, result): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        let target = Target { operands: operands.address(), result: result.address(), count };
        self.step(RoundStep::Fold(source, target, reduction.combiner()));
    }

    /// Waits until a process has exposed room, and copies data there.
    pub(crate) fn deliver(&mut self, destination: Source, data: Buffer) {
        self.step(RoundStep::Deliver(destination, data));
    }

    /// Waits until a process has published.
    #[inline(always)]
    pub(crate) fn see(&mut self, source: Source) {
        self.step(RoundStep::See(source));
    }

    /// Needs nothing more of a round.
    #[inline(always)]
    pub(crate) fn finish_round(&mut self, round: u32) {
        self.step(RoundStep::Finish(round));
        if matches!(self.talk.form, Form::Immediate(_)) {
            ended_promptly(self.talk.comm.vni(), Awaited::Word);
        }
    }

    /// Carries a step out, or records it.
    #[inline(always)]
    fn step(&mut self, step: RoundStep) {
        match &mut self.talk.form {
            Form::Immediate(messages) => {
                self.rounds.carry_out(self.talk.comm.vni(), &step, messages);
                step.end();
            }
            Form::Recorded(recorder) => recorder.push(Step::InRound(step)),
        }
    }
}
