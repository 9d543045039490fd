//! A recorded operation: its steps, and what they need, kept until they are over.
//!
//! The steps are carried out in order. A [message](Step::Send) is begun and does not hold up the next step;
//! [`Step::Complete`] is over when no message is in flight. So a schedule [goes on](Task::advance) without
//! waiting, by whatever thread makes progress. A persistent operation starts its schedule again and again,
//! which allocates nothing.

use super::elements::Elements;
use super::memory::Memory;
use super::messages::{Among, Channel, Messages};
use super::reduction::{Combiner, Reduction};
use heddle_comm::KeptComm;
use heddle_comm::datatype::KeptType;
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_message::request::{Outcome, RequestId};
use heddle_message::vni::{Advanced, Task};
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

/// What a rank does in one step.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Begins to send a message.
    Send(Among, usize, Buffer),
    /// Begins to receive a message that fills the buffer.
    Receive(Among, usize, Buffer),
    /// Waits for all messages that were begun.
    Complete,
    Copy(Buffer, Buffer),
    Combine(Operands),
}

/// Two vectors: `inout = input OP inout`.
#[derive(Debug, Clone, Copy)]
struct Operands {
    input: *mut u8,
    inout: *mut u8,
    count: i64,
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

/// Records the steps of an operation.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    steps: Vec<Step>,
    begun: Begun,
    combiner: Option<Combiner>,
    types: Vec<KeptType>,
}

impl Recorder {
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

/// Where the schedule of a persistent operation rests while it is not under way.
pub(super) type Rest = Arc<Mutex<Option<Box<Schedule>>>>;

/// The steps of an operation, and how far it has come.
#[derive(Debug)]
pub(super) struct Schedule {
    comm: KeptComm,
    /// The communicator of an intercommunicator's local group.
    local: Option<KeptComm>,
    tag: i32,
    steps: Vec<Step>,
    combiner: Option<Combiner>,
    /// What the steps point to.
    _memory: Vec<Memory>,
    _types: Vec<KeptType>,
    next: usize,
    messages: Messages,
    /// The request to complete.
    request: RequestId,
    /// Where to go when it is over.
    rest: Option<Rest>,
}

impl Schedule {
    /// The recorded steps; their messages travel on a communicator, and on that of its local group if it is
    /// an intercommunicator, with this tag.
    pub(super) fn new(
        (comm, local): (KeptComm, Option<KeptComm>),
        tag: i32,
        mut recorder: Recorder,
        memory: Vec<Memory>,
    ) -> Schedule {
        recorder.complete();
        Schedule {
            comm,
            local,
            tag,
            steps: recorder.steps,
            combiner: recorder.combiner,
            _memory: memory,
            _types: recorder.types,
            next: 0,
            messages: Messages::default(),
            request: 0,
            rest: None,
        }
    }

    /// Begins the operation of a request.
    ///
    /// # Errors
    /// If MPI is not running; then nothing has begun.
    pub(super) fn start(
        mut self: Box<Self>,
        request: RequestId,
        rest: Option<Rest>,
    ) -> heddle_comm::error::Result<()> {
        (self.next, self.request, self.rest) = (0, request, rest);
        domain::current()?.vni(self.comm.vni()).add_task(self);
        Ok(())
    }

    /// Carries steps out as far as possible without waiting. Returns true if all are over.
    fn go_on(&mut self) -> bool {
        let channel = |among| Channel::of(&self.comm, self.local.as_ref(), among, self.tag);
        while let Some(step) = self.steps.get(self.next) {
            match *step {
                Step::Send(among, to, data) => self.messages.begin_send(channel(among), to, data),
                Step::Receive(among, from, room) => self.messages.begin_receive(channel(among), from, room),
                Step::Complete if !self.messages.are_complete() => return false,
                Step::Complete => {}
                Step::Copy(from, to) => self.messages.copy(self.comm.rank(), &from, &to),
                Step::Combine(Operands { input, inout, count }) => {
                    if let Some(combiner) = &self.combiner {
                        // SAFETY: the vectors were elements of the recorded operation.
                        unsafe { combiner.apply(input, inout, count) };
                    }
                }
            }
            self.next += 1;
        }
        true
    }

    /// Ends the operation: the schedule rests, or is over for good, before its request is complete.
    fn end(mut self: Box<Self>) {
        let (vni, request) = (self.comm.vni(), self.request);
        let outcome = Outcome { error: self.messages.take_error(), ..Outcome::empty() };
        match self.rest.take() {
            Some(rest) => *rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(self),
            None => drop(self),
        }
        if let Some(domain) = domain::running() {
            domain.vni(vni).complete_task(request, outcome);
        }
    }
}

impl Task for Schedule {
    fn advance(mut self: Box<Self>) -> Advanced<Box<dyn Task>> {
        let before = self.next;
        if self.go_on() {
            self.end();
            Advanced::Over
        } else if self.next == before {
            Advanced::Waits(self)
        } else {
            Advanced::CameFurther(self)
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
