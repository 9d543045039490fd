//! Records the steps of an operation, for its [schedule](super::schedule).
//!
//! A message is begun and does not hold up the next step; [`Step::Complete`] is over when no message is in
//! flight.

use super::step::{Prompt, Step};
use crate::blackboard::on_blackboard_from_now_on;
use crate::messages::{Among, Message, Messages};
use heddle_blackboard::{Blackboard, BlockTable, Limits};
use heddle_comm::CommRef;
use heddle_comm::datatype::KeptType;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_platform::allocate::reserve;
use std::mem::{replace, take};

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

/// Each is where it is until the steps are over for good.
pub(crate) type BlocksOfSteps = Vec<Box<BlockTable>>;

/// The most parts of a vector that are recorded: each takes several steps.
const MOST_PARTS: u32 = 1024;

/// Records the steps of an operation.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    persistent: bool,
    /// None in flight yet: with room for those that will be.
    pub(crate) messages: Messages,
    /// What it needs of the blackboard.
    pub(crate) plan: Option<Plan>,
    steps: Vec<Step>,
    /// The bytes of the steps' buffers, without copies within the process.
    pub(crate) bytes: usize,
    begun: Begun,
    /// The datatypes of the steps' buffers.
    pub(crate) types: Vec<KeptType>,
    /// Blocks to which steps point.
    pub(crate) blocks: BlocksOfSteps,
}

/// The rounds of a recorded operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) lane: Lane,
    pub(crate) rounds: u32,
    pub(crate) operation: i32,
}

/// Where its rounds go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lane {
    /// In the lane of all operations.
    Common,
    /// In that of a persistent operation.
    Own(u32),
}

impl Recorder {
    pub(crate) fn new(persistent: bool) -> Recorder {
        Recorder { persistent, ..Recorder::default() }
    }

    /// The blackboard of a communicator. Persistent operations are made by all processes together, so the
    /// communicator gets it now.
    pub(crate) fn blackboard_of<'a>(&self, comm: &'a CommRef) -> Option<&'a Blackboard> {
        if self.persistent { on_blackboard_from_now_on(comm) } else { comm.blackboard.get() }
    }

    /// What it can publish on a blackboard.
    pub(crate) fn limits(&self, blackboard: &Blackboard) -> Option<Limits> {
        let limits = blackboard.limits();
        let has_lane = !self.persistent || blackboard.has_lane();
        has_lane.then_some(Limits { parts: limits.parts.min(MOST_PARTS), ..limits })
    }

    pub(crate) fn take_rounds(&mut self, blackboard: &Blackboard, rounds: u32, operation: i32) {
        let lane = if self.persistent {
            let Some(lane) = blackboard.take_lane() else { unreachable!("`limits` has found a lane") };
            Lane::Own(lane)
        } else {
            Lane::Common
        };
        self.plan = Some(Plan { lane, rounds, operation });
    }

    /// Makes what the steps of a persistent operation publish their data on.
    pub(crate) fn make_pages(&self, blackboard: &Blackboard) {
        let Some(Plan { lane: Lane::Own(lane), .. }) = self.plan else { return };
        let published = self.steps.iter().filter_map(|step| match step {
            Step::InRound(step) => Some(step.published_bytes()),
            Step::Prompt(_) | Step::Complete => None,
        });
        // Also for parts: the writer is to come back to a place when its readers' caches have lost it.
        let longest = published.max().unwrap_or(0).min(blackboard.limits().bytes);
        blackboard.make_pages_of_lane(lane, longest);
    }

    /// Keeps blocks for a step.
    pub(crate) fn keep_blocks(&mut self, blocks: BlockTable) -> &BlockTable {
        self.blocks.push(Box::new(blocks));
        let Some(blocks) = self.blocks.last() else { unreachable!("there is one") };
        blocks
    }

    /// Records messages that the schedule begins, as the algorithm carries them out in its blocking form.
    pub(crate) fn message(&mut self, among: Among, message: Message) {
        let begun = match message {
            Message::Send(..) | Message::PassOn(..) => Begun::Sends,
            Message::Receive(..) => Begun::Receives,
            Message::Exchange(..) => Begun::Exchange,
        };
        self.together(begun);
        self.keep(Step::Prompt(Prompt::Begin(among, message)));
    }

    /// Makes room for messages that are going to be begun, and for the step that completes them.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn reserve(&mut self, messages: usize) -> Result<()> {
        reserve(&mut self.steps, messages + 2)?;
        self.messages.reserve(messages)
    }

    /// Records a step.
    pub(crate) fn push(&mut self, step: Step) {
        match step {
            Step::Prompt(Prompt::Begin(..)) => self.together(Begun::Any),
            _ => self.together(Begun::Nothing),
        }
        if !matches!(step, Step::Complete) {
            self.keep(step);
        }
    }

    /// Lets messages that were begun in this manner be in flight together, and no others.
    fn together(&mut self, begun: Begun) {
        let before = replace(&mut self.begun, begun);
        if before != Begun::Nothing && (before != begun || begun == Begun::Exchange) {
            self.steps.push(Step::Complete);
        }
    }

    /// The steps, which end with no message in flight.
    pub(crate) fn take_steps(&mut self) -> Vec<Step> {
        self.together(Begun::Nothing);
        take(&mut self.steps)
    }

    fn keep(&mut self, step: Step) {
        for buffer in step.buffers() {
            self.keep_type_of(buffer);
        }
        if !matches!(step, Step::Prompt(Prompt::Copy(..))) {
            self.bytes += step.buffers().map(Buffer::len).sum::<usize>();
        }
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
        let letter = |step: &Step| match step {
            Step::Prompt(Prompt::Begin(_, Message::Send(..))) => 's',
            Step::Prompt(Prompt::Begin(_, Message::Receive(..))) => 'r',
            Step::Prompt(Prompt::Begin(_, Message::Exchange(..))) => 'x',
            Step::Prompt(Prompt::Copy(..)) => 'c',
            Step::Complete => '.',
            _ => '#',
        };
        recorder.take_steps().iter().map(letter).collect()
    }

    fn carry_out(recorder: &mut Recorder, messages: &str) {
        messages.chars().for_each(|letter| recorder.message(Among::Peers, message(letter)));
    }

    fn begin(recorder: &mut Recorder, messages: &str) {
        let step = |letter| Step::Prompt(Prompt::Begin(Among::Peers, message(letter)));
        messages.chars().for_each(|letter| recorder.push(step(letter)));
    }

    fn message(letter: char) -> Message {
        let other = (1, Buffer::empty());
        match letter {
            's' => Message::Send(other.0, other.1),
            'r' => Message::Receive(other.0, other.1),
            _ => Message::Exchange(other, other),
        }
    }

    fn copy(recorder: &mut Recorder) {
        recorder.push(Step::Prompt(Prompt::Copy(Buffer::empty(), Buffer::empty())));
    }

    #[test]
    fn only_messages_that_follow_each_other_are_in_flight_together() {
        let recorded = |messages| {
            steps(|it| {
                carry_out(it, messages);
                copy(it);
            })
        };
        assert_eq!(recorded("sss"), "sss.c");
        assert_eq!(recorded("rrr"), "rrr.c");
        assert_eq!(recorded("xx"), "x.x.c");
        assert_eq!(recorded("srs"), "s.r.s.c");
        assert_eq!(recorded(""), "c");
        assert_eq!(steps(|it| carry_out(it, "s")), "s.", "no message is in flight at the end");
    }

    #[test]
    fn messages_that_an_algorithm_has_begun_end_where_it_says_so() {
        assert_eq!(steps(|it| begin(it, "rss")), "rss.");
        let after_others = steps(|it| {
            carry_out(it, "x");
            begin(it, "rss");
            it.push(Step::Complete);
            it.push(Step::Complete);
            carry_out(it, "s");
            begin(it, "rss");
            copy(it);
        });
        assert_eq!(after_others, "x.rss.s.rss.c");
    }
}
