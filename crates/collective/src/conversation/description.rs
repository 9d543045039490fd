//! A conversation, and the steps that it takes.

use super::subgroup::Subgroup;
use crate::data::{Elements, Memory, Reduction};
use crate::messages::{Among, Channel, Message, Messages};
use crate::steps::{Operands, Prompt, Recorder, Schedule, Step};
use heddle_blackboard::Blackboard;
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::history::Identity;
use std::mem::{replace, take};

/// A collective operation talking to the other ranks.
#[derive(Debug)]
pub struct Conversation<'a> {
    pub(super) comm: &'a CommRef,
    /// Of an intercommunicator: the communicator of the local group.
    pub(super) local: Option<KeptComm>,
    /// Whom the ranks of messages name now.
    pub(super) among: Among,
    /// If some ranks act among themselves now: those.
    pub(super) subgroup: Option<Subgroup<'a>>,
    /// This process's rank among the ranks that act now.
    pub(super) rank: usize,
    /// The number of ranks that act now.
    pub(super) size: usize,
    pub(super) tag: i32,
    /// The library's own memory, which lives as long as the operation.
    pub(super) memory: Vec<Memory>,
    pub(super) form: Form<'a>,
}

/// What becomes of a step. Whoever makes a conversation owns the messages or the recorder: they are large,
/// and a conversation is moved.
#[derive(Debug)]
pub(super) enum Form<'a> {
    /// It is carried out at once.
    Immediate(&'a mut Messages),
    Recorded(&'a mut Recorder),
}

impl<'a> Conversation<'a> {
    /// One that carries its steps out.
    #[inline(always)]
    pub(crate) fn immediate(comm: &'a CommRef, messages: &'a mut Messages) -> Conversation<'a> {
        Conversation::new(comm, Form::Immediate(messages))
    }

    /// One that records its steps.
    pub(crate) fn recorded(comm: &'a CommRef, recorder: &'a mut Recorder) -> Conversation<'a> {
        Conversation::new(comm, Form::Recorded(recorder))
    }

    #[inline(always)]
    fn new(comm: &'a CommRef, form: Form<'a>) -> Conversation<'a> {
        Conversation {
            comm,
            local: comm.local(),
            among: Among::Peers,
            subgroup: None,
            rank: comm.rank(),
            size: comm.size(),
            tag: 0,
            memory: Vec::new(),
            form,
        }
    }

    /// Returns true if the ranks of messages are those of an intercommunicator's remote group.
    pub(crate) fn is_between_groups(&self) -> bool {
        self.local.is_some() && self.among == Among::Peers
    }

    /// The number of processes in an intercommunicator's remote group.
    pub(crate) fn remote_size(&self) -> usize {
        self.comm.peers.size()
    }

    /// Describes what the processes of an intercommunicator's local group do among themselves.
    pub(crate) fn within_group<R>(&mut self, describe: impl FnOnce(&mut Conversation<'a>) -> R) -> R {
        let before = replace(&mut self.among, Among::LocalGroup);
        let result = describe(self);
        self.among = before;
        result
    }

    /// Names the operation: the tag of its messages, if it is carried out at once. Messages of another
    /// operation that a rank calls by mistake then do not match.
    pub(crate) fn name(&mut self, tag: i32) {
        self.tag = tag;
    }

    /// Notes an operation that has its name, before the rank waits for others. `bytes` are what decides how
    /// it is carried out, the same in all ranks: those that wait long compare it. The two groups of an
    /// intercommunicator do different things.
    #[inline(always)]
    pub(crate) fn note(&self, bytes: usize) {
        if self.local.is_none() {
            let rounds = self.comm.blackboard.get().map_or(0, Blackboard::next_round);
            self.comm.context().history().note((self.tag, bytes, rounds), || identity(self.comm));
        }
    }

    /// Notes an operation of one giver and takers: in the blocking form of two ranks, whose bytes decide
    /// nothing, as the giver says how much it gives.
    #[inline(always)]
    pub(crate) fn note_unless_of_two(&self, bytes: usize) {
        self.note(if self.size == 2 && !self.is_recorded() { 0 } else { bytes });
    }

    /// Forgets what was [noted](Self::note), since the operation does not begin.
    #[cold]
    pub(crate) fn forget(&self) {
        if self.tag != 0 && self.local.is_none() {
            self.comm.context().history().forget();
        }
    }

    pub(crate) fn comm(&self) -> &'a CommRef {
        self.comm
    }

    /// This process's rank among those that act now: all, those of a machine, or the leaders.
    #[inline(always)]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks that act now.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The other ranks, from the next one on: so not all turn to the same rank at once.
    pub(crate) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (rank, size) = (self.rank(), self.size());
        (1..size).map(move |distance| (rank + distance) % size)
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, to: usize, data: Buffer) {
        self.message(Message::Send(self.rank_in_communicator(to), data));
    }

    /// Sends data that came to this rank in another message; after an error none.
    pub(crate) fn pass_on(&mut self, to: usize, data: Buffer) {
        self.message(Message::PassOn(self.rank_in_communicator(to), data));
    }

    /// Receives a message that fills a buffer.
    pub(crate) fn receive(&mut self, from: usize, room: Buffer) {
        self.message(Message::Receive(self.rank_in_communicator(from), room));
    }

    /// Sends one message and receives another.
    pub(crate) fn exchange(&mut self, (to, data): (usize, Buffer), (from, room): (usize, Buffer)) {
        let outgoing = (self.rank_in_communicator(to), data);
        self.message(Message::Exchange(outgoing, (self.rank_in_communicator(from), room)));
    }

    /// A message that the blocking form waits for.
    #[inline(always)]
    fn message(&mut self, message: Message) {
        match &mut self.form {
            Form::Immediate(messages) => {
                let channel = Channel::of(self.comm, self.local.as_ref(), self.among, self.tag);
                messages.carry_out(channel, message);
            }
            Form::Recorded(recorder) => recorder.message(self.among, message),
        }
    }

    /// Makes room for the messages that an operation is going to begin, and for its copies, where a program
    /// says how many there are.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn reserve(&mut self, messages: usize) -> Result<()> {
        match &mut self.form {
            Form::Immediate(flight) => flight.reserve(messages),
            Form::Recorded(recorder) => recorder.reserve(messages),
        }
    }

    /// Begins to send a message; [`Conversation::complete`] waits for it.
    pub(crate) fn begin_send(&mut self, to: usize, data: Buffer) {
        let message = Message::Send(self.rank_in_communicator(to), data);
        self.prompt(Prompt::Begin(self.among, message));
    }

    /// Begins to receive a message that fills a buffer; [`Conversation::complete`] waits for it.
    pub(crate) fn begin_receive(&mut self, from: usize, room: Buffer) {
        let message = Message::Receive(self.rank_in_communicator(from), room);
        self.prompt(Prompt::Begin(self.among, message));
    }

    /// Returns true if an empty block is not sent. In the blocking form a rank that expects more learns that
    /// the other one has completed the operation; a recorded one would wait for ever.
    pub(crate) fn leaves_out(&self, block: &Buffer) -> bool {
        block.is_empty() && !self.is_recorded()
    }

    /// Waits for all messages that were begun.
    pub(crate) fn complete(&mut self) {
        match &mut self.form {
            Form::Immediate(messages) => messages.complete(self.comm),
            Form::Recorded(recorder) => recorder.push(Step::Complete),
        }
    }

    /// Copies data within the process, as if the rank sent it to itself.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: &Buffer, to: &Buffer) {
        match &mut self.form {
            Form::Immediate(messages) => messages.copy(self.comm.rank(), from, to),
            Form::Recorded(recorder) => recorder.push(Step::Prompt(Prompt::Copy(*from, *to))),
        }
    }

    /// Computes `inout = input OP inout` on `count` elements.
    pub(crate) fn combine(
        &mut self,
        reduction: &Reduction<'_>,
        (input, inout): (Elements<'_>, Elements<'_>),
        count: i64,
    ) {
        let operands = Operands { input: input.address(), inout: inout.address(), count };
        self.prompt(Prompt::Combine(operands, reduction.combiner()));
    }

    /// Keeps an error of this rank's arguments with which the operation goes on, so that no other rank waits
    /// for this one.
    #[cold]
    pub(crate) fn fail(&mut self, error: Error) {
        self.prompt(Prompt::Fail(error));
    }

    #[inline(always)]
    fn prompt(&mut self, step: Prompt) {
        match &mut self.form {
            Form::Immediate(messages) => {
                let channel = |among| Channel::of(self.comm, self.local.as_ref(), among, self.tag);
                step.carry_out(channel, messages);
            }
            Form::Recorded(recorder) => recorder.push(Step::Prompt(step)),
        }
    }

    /// Lets ranks give less than is expected of them, as all other libraries do here, unless the program is
    /// to keep to the standard.
    pub(crate) fn take_less(&mut self) {
        let takes_less = !heddle_settings::is_strict();
        match &mut self.form {
            Form::Immediate(messages) => messages.takes_less = takes_less,
            Form::Recorded(recorder) => recorder.messages.takes_less = takes_less,
        }
    }

    /// The result of an operation that was carried out: the first error, if there was one.
    ///
    /// # Errors
    /// That error.
    #[inline(always)]
    pub(crate) fn finish(&mut self) -> Result<()> {
        match &mut self.form {
            Form::Immediate(messages) => messages.take_error().map_or(Ok(()), Err),
            Form::Recorded(_) => unreachable!("a recorded operation has no result yet"),
        }
    }

    /// The recorded steps, whose messages will have this tag.
    pub(crate) fn into_schedule(self, tag: i32) -> Schedule {
        match self.form {
            Form::Recorded(recorder) => {
                let recorder = take(recorder);
                if let Some(blackboard) = self.comm.blackboard.get() {
                    recorder.make_pages(blackboard);
                }
                Schedule::new((self.comm.keep(), self.local), tag, recorder, self.memory)
            }
            Form::Immediate(_) => unreachable!("the steps were carried out"),
        }
    }
}

/// How all processes of a communicator name it.
#[cold]
fn identity(comm: &CommRef) -> Identity {
    let members = (0..comm.size()).filter_map(|rank| comm.group.world_rank(rank));
    let members = members.fold(0_u64, |hash, rank| {
        (hash.rotate_left(5) ^ (rank as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    Identity { context: comm.context().id(Plane::Collective), members }
}
