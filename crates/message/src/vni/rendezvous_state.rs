//! Rendezvous state and deferred work: flushes, follow-ups, freed requests.

use super::message::SendArgs;
use super::transfer_method::{CACHE_BYTES, MethodChoice};
use super::under_way::{Pull, Push, SplitCopy, Stream};
use crate::request::{self, Outcome, RequestId};
use heddle_model::Object;
use heddle_model::counters::Section;
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;

/// The number of freed requests that one step of progress checks.
const CHECKS: usize = 8;

/// Rendezvous transfers in progress and deferred work, in one critical section.
#[derive(Debug, Default)]
pub(crate) struct RendezvousState {
    pub streams: Vec<Stream>,
    pub pulls: VecDeque<Pull>,
    pub pushes: VecDeque<Push>,
    /// Receives by split copy: each side copies one half.
    pub split_copies: Vec<SplitCopy>,
    /// For each peer that has sent long messages, the choice of method: for those below `CACHE_BYTES`, and
    /// for the others.
    method_choices: HashMap<usize, [MethodChoice; 2]>,
    /// Requests that the program freed while they were active; released once they are complete.
    abandoned: VecDeque<RequestId>,
    /// Work that waits for the end of other operations.
    sequels: Vec<Box<dyn Sequel>>,
}

/// Work that follows other operations of the VNI. Any thread that sees their end runs it.
pub trait Sequel: Debug + Send {
    /// Returns true if the other operations are over.
    fn is_due(&self) -> bool;

    /// Runs the work within the critical section of the rendezvous state. `send` sends a small message to
    /// another process, by a detached request. Returns a request to complete, with its outcome.
    fn run(self: Box<Self>, send: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)>;
}

impl Object for RendezvousState {
    const SECTION: Section = Section::Rendezvous;
    const LEVEL: u32 = 2;
}

impl RendezvousState {
    /// The number of transfers and deferred pieces of work.
    pub(crate) fn pending(&self) -> usize {
        let messages = self.streams.len() + self.pulls.len() + self.pushes.len();
        messages + self.abandoned.len() + self.sequels.len()
    }

    pub(crate) fn method_choice(&mut self, peer: usize, bytes: usize) -> &mut MethodChoice {
        let unknown = || [MethodChoice::within_cache(), MethodChoice::beyond_cache()];
        let [within, beyond] = self.method_choices.entry(peer).or_insert_with(unknown);
        if bytes < CACHE_BYTES { within } else { beyond }
    }

    /// Adds work that waits for the end of other operations.
    pub(crate) fn follow(&mut self, sequel: Box<dyn Sequel>) {
        self.sequels.push(sequel);
    }

    /// Removes the work that is due, and returns it in the order in which it was added.
    pub(crate) fn due_sequels(&mut self) -> Vec<Box<dyn Sequel>> {
        // The loop runs backwards. If operation B ends after A, and the work that waits for B is found due,
        // the work that waits for A, which is checked later, is found due as well.
        let mut due: Vec<Box<dyn Sequel>> = Vec::new();
        for index in (0..self.sequels.len()).rev() {
            if self.sequels[index].is_due() {
                due.push(self.sequels.remove(index));
            }
        }
        due.reverse();
        due
    }

    /// Keeps a freed request until it is complete.
    pub(crate) fn abandon(&mut self, id: RequestId) {
        self.abandoned.push_back(id);
        // A thread that frees requests checks some itself, so complete ones do not pile up.
        self.release_abandoned();
    }

    /// Checks the first few freed requests: releases the complete ones, moves the others to the end.
    pub(crate) fn release_abandoned(&mut self) {
        for _ in 0..CHECKS.min(self.abandoned.len()) {
            let Some(id) = self.abandoned.pop_front() else { return };
            if request::is_complete(id) {
                request::release(id);
            } else {
                self.abandoned.push_back(id);
            }
        }
    }
}
