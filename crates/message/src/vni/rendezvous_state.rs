//! Rendezvous state and deferred work: flushes, follow-ups, freed requests.

use super::message::SendArgs;
use super::method_choice::{MethodChoice, MethodChoices};
use super::under_way::{Pull, PushUnderWay, SplitCopy, Stream};
use crate::request::{self, Outcome, RequestId};
use crate::spread::SpreadEvent;
use heddle_model::GuardedObject;
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
    pub pushes: VecDeque<PushUnderWay>,
    /// Receives by split copy: each side copies one half.
    pub split_copies: Vec<SplitCopy>,
    /// For each peer that has sent long messages, the choices of method.
    method_choices: HashMap<usize, MethodChoices>,
    /// Requests that the program freed while they were active; released once they are complete.
    abandoned: VecDeque<RequestId>,
    /// Work that waits for the end of other operations.
    sequels: Vec<Box<dyn Sequel>>,
    /// News of messages that are spread over VNIs, for the thread that acts on them.
    pub spread_events: VecDeque<SpreadEvent>,
}

/// Work that follows other operations of the VNI. Any thread that sees their end runs it.
pub trait Sequel: Debug + Send {
    /// Returns true if the other operations are over.
    fn is_due(&self) -> bool;

    /// Runs the work within the critical section of the rendezvous state. `send` sends a small message to
    /// another process, by a detached request. Returns a request to complete, with its outcome.
    fn run(self: Box<Self>, send: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)>;
}

impl GuardedObject for RendezvousState {
    const SECTION: Section = Section::Rendezvous;
    const LEVEL: u32 = 2;
}

impl RendezvousState {
    /// The number of transfers and deferred pieces of work.
    pub(crate) fn pending(&self) -> usize {
        let messages = self.streams.len() + self.pulls.len() + self.pushes.len();
        messages + self.abandoned.len() + self.sequels.len() + self.spread_events.len()
    }

    pub(crate) fn method_choice(&mut self, peer: usize, bytes: usize) -> &mut MethodChoice {
        self.method_choices.entry(peer).or_default().for_bytes(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RequestKind;
    use heddle_platform::atomic::{AtomicBool, Ordering};
    use std::sync::Arc;

    /// Work with a number, which is due when it is told so.
    #[derive(Debug)]
    struct Numbered(RequestId, Arc<AtomicBool>);

    impl Sequel for Numbered {
        fn is_due(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }

        fn run(self: Box<Self>, _: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)> {
            Some((self.0, Outcome::empty()))
        }
    }

    #[test]
    fn work_that_is_due_is_returned_in_the_order_in_which_it_was_added() {
        let mut state = RendezvousState::default();
        let due: Vec<Arc<AtomicBool>> = (0..6).map(|_| Arc::default()).collect();
        (0..).zip(&due).for_each(|(number, due)| state.follow(Box::new(Numbered(number, Arc::clone(due)))));
        let mut run = |now: &[usize]| -> Vec<RequestId> {
            now.iter().for_each(|index| due[*index].store(true, Ordering::Relaxed));
            let sequels = state.due_sequels().into_iter();
            sequels.filter_map(|sequel| Some(sequel.run(&mut |_, _| ())?.0)).collect()
        };
        assert_eq!(run(&[]), []);
        assert_eq!(run(&[4, 1, 3]), [1, 3, 4]);
        assert_eq!(run(&[5, 0, 2]), [0, 2, 5]);
        assert_eq!(state.pending(), 0);
    }

    #[test]
    fn a_thread_that_frees_requests_leaves_no_complete_one_behind() {
        let mut state = RendezvousState::default();
        let request = || request::take(0, 0, RequestKind::Send).expect("a slot");
        // SAFETY: this thread has the request, which nobody else knows.
        let complete = |id| assert!(unsafe { request::complete(id, Outcome::empty()) }.is_none());
        let active = request();
        state.abandon(active);
        for _ in 0..10 * CHECKS {
            let id = request();
            complete(id);
            state.abandon(id);
            assert_eq!(state.pending(), 1);
        }
        complete(active);
        state.release_abandoned();
        assert_eq!(state.pending(), 0);
    }
}
