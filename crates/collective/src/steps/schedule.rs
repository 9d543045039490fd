//! A recorded operation: its steps, and what they need, kept until they are over.
//!
//! The steps are carried out in order, as far as possible without waiting, by whatever thread makes progress:
//! a schedule is a [`Task`]. A persistent operation starts its schedule again and again, which allocates
//! nothing.

use super::recorder::{BlocksOfSteps, Lane, Plan, Recorder};
use super::step::Step;
use crate::blackboard::{Rounds, soon};
use crate::data::Memory;
use crate::messages::{Channel, Messages};
use heddle_blackboard::{Blackboard, Round};
use heddle_comm::KeptComm;
use heddle_comm::datatype::KeptType;
use heddle_message::domain::{self, Domain};
use heddle_message::progress::{Awaited, ended_promptly};
use heddle_message::request::{Outcome, RequestId};
use heddle_message::vni::{Advanced, Task};
use heddle_p2p::LongWait;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the schedule of a persistent operation rests while it is not under way.
pub(crate) type Rest = Arc<Mutex<Option<Box<Schedule>>>>;

/// An operation whose steps move this many bytes takes far longer than to wake an offload thread.
const LONG: usize = 256 << 10;

/// The steps of an operation, and how far it has come.
#[derive(Debug)]
pub(crate) struct Schedule {
    comm: KeptComm,
    /// The communicator of an intercommunicator's local group.
    local: Option<KeptComm>,
    tag: i32,
    plan: Option<Plan>,
    /// The first of its rounds.
    first: Round,
    steps: Vec<Step>,
    /// The bytes of all buffers in the steps.
    bytes: usize,
    /// What the steps point to.
    _memory: Vec<Memory>,
    _types: Vec<KeptType>,
    _blocks: BlocksOfSteps,
    next: usize,
    messages: Messages,
    long_wait: LongWait,
    /// Its number in the history.
    number: u32,
    /// It waits until others have finished rounds on the blackboard, and has said so.
    waits: bool,
    /// The request to complete.
    request: RequestId,
    /// Where to go when it is over.
    rest: Option<Rest>,
}

impl Schedule {
    /// The recorded steps; their messages travel on a communicator, and on that of its local group if it is
    /// an intercommunicator, with this tag.
    pub(crate) fn new(
        (comm, local): (KeptComm, Option<KeptComm>),
        tag: i32,
        mut recorder: Recorder,
        memory: Vec<Memory>,
    ) -> Schedule {
        let number = comm.context().history().number();
        Schedule {
            comm,
            local,
            tag,
            plan: recorder.plan,
            first: Round::default(),
            steps: recorder.take_steps(),
            bytes: recorder.bytes,
            _memory: memory,
            _types: recorder.types,
            _blocks: recorder.blocks,
            next: 0,
            messages: recorder.messages,
            long_wait: LongWait::default(),
            number,
            waits: false,
            request: 0,
            rest: None,
        }
    }

    /// Begins the operation, and carries steps out as far as possible without waiting, or nearly. Returns the
    /// outcome if it is over. Otherwise it must [become a task](Self::become_task). The steps of a long
    /// operation are left to offload threads, if there are any, so that the caller can compute meanwhile.
    pub(crate) fn start(&mut self, domain: &Domain) -> Option<Outcome> {
        self.next = 0;
        self.long_wait = LongWait::in_operation(self.number);
        if let (Some(plan), Some(blackboard)) = (self.plan, self.comm.blackboard.get()) {
            self.first = match plan.lane {
                Lane::Common => {
                    blackboard.begin_task();
                    blackboard.begin(plan.rounds)
                }
                Lane::Own(lane) => blackboard.begin_in(lane, plan.rounds),
            };
        }
        if self.is_left_to_others(domain) {
            return None;
        }
        let blackboard = self.plan.and(self.comm.blackboard.get());
        let has_cores = blackboard.is_some_and(Blackboard::has_cores);
        if !soon(has_cores, || self.go_on()) {
            return None;
        }
        ended_promptly(self.comm.vni(), Awaited::Anything);
        Some(self.take_outcome())
    }

    /// Leaves the rest of an operation that has begun to the threads that make progress. They complete its
    /// request.
    pub(crate) fn become_task(mut self: Box<Self>, domain: &Domain, request: RequestId, rest: Option<Rest>) {
        (self.request, self.rest) = (request, rest);
        let vni = self.comm.vni();
        if self.is_left_to_others(domain) {
            domain.leave_task(vni, self);
        } else {
            domain.vni(vni).add_task(self);
        }
    }

    fn is_left_to_others(&self, domain: &Domain) -> bool {
        domain.is_offloaded() && self.bytes >= LONG
    }

    /// Carries steps out as far as possible without waiting. Returns true if all are over.
    fn go_on(&mut self) -> bool {
        let channel = |among| Channel::of(&self.comm, self.local.as_ref(), among, self.tag);
        let rounds = self.plan.zip(self.comm.blackboard.get());
        let rounds = rounds.map(|(plan, blackboard)| Rounds {
            comm: &self.comm,
            blackboard,
            first: self.first,
            operation: plan.operation,
        });
        for step in &self.steps[self.next..] {
            let is_over = if let Step::InRound(step) = step {
                let Some(rounds) = &rounds else { unreachable!("steps in rounds are recorded with a plan") };
                let is_over = rounds.attempt(step, &mut self.messages)
                    || self.long_wait.is_in_vain(&self.comm, self.comm.vni(), None)
                        && rounds.give_up(step, &mut self.long_wait, &mut self.messages);
                if is_over == self.waits && step.awaits_readers() {
                    self.waits = !is_over;
                    if is_over {
                        rounds.blackboard.end_waiting();
                    } else {
                        rounds.blackboard.begin_waiting();
                    }
                }
                is_over
            } else if let Step::Prompt(step) = step {
                step.carry_out(channel, &mut self.messages);
                true
            } else {
                self.messages.are_complete() || {
                    if self.long_wait.is_in_vain(&self.comm, self.comm.vni(), None) {
                        self.messages.abandon();
                    }
                    false
                }
            };
            if !is_over {
                return false;
            }
            self.next += 1;
        }
        true
    }

    /// The outcome after the last step.
    #[inline(always)]
    fn take_outcome(&mut self) -> Outcome {
        if let (Some(Plan { lane: Lane::Common, .. }), Some(it)) = (self.plan, self.comm.blackboard.get()) {
            it.end_task();
        }
        Outcome { error: self.messages.take_error(), ..Outcome::empty() }
    }

    /// Ends the operation of a task: the schedule rests, or is over for good, before its request is complete.
    fn end(mut self: Box<Self>) {
        let (vni, request) = (self.comm.vni(), self.request);
        let outcome = self.take_outcome();
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
