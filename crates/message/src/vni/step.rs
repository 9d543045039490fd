//! Progress on a VNI: one step polls and handles what it finds.

use super::core::Core;
use super::rendezvous_state::RendezvousState;
use super::ring_access::Rules;
use super::under_way::{Pull, PushUnderWay};
use crate::spread::SpreadEvent;
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf};

/// Messages taken from one sender before the others get their turn.
pub(crate) const POLL_BUDGET: usize = 32;

/// The result of a step.
#[derive(Debug)]
pub(crate) enum Step {
    Nothing,
    /// Something happened, or pulls wait for their turn.
    Happened,
    /// The caller makes this copy now, outside of all critical sections.
    Pull(Pull),
    Push(PushUnderWay),
    /// The caller moves messages between VNIs, outside of all critical sections.
    Spread(SpreadEvent),
}

/// The rule by which a step enters a critical section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It enters only if the critical section is free.
    Try,
    /// It enters only if the critical section is free; if not, it reports that something happens, so that
    /// the caller does not sleep.
    TryForCertain,
    /// It waits for the critical section.
    Wait,
}

impl Entry {
    #[inline(always)]
    pub(crate) fn enter<T, R>(
        self,
        section: &impl SectionOf<T>,
        operation: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        match self {
            Entry::Try | Entry::TryForCertain => section.try_with(Path::Progress, operation),
            Entry::Wait => Some(section.with(Path::Progress, operation)),
        }
    }

    /// Returns true if something happened; `inside` is the result of a critical section
    /// that was entered or not.
    #[inline(always)]
    pub(crate) fn happened(self, inside: Option<bool>) -> bool {
        inside.unwrap_or(self == Entry::TryForCertain)
    }
}

impl<S: Rules> Core<S> {
    /// Makes one step of progress.
    #[inline]
    pub(crate) fn step(&self, entry: Entry) -> Step {
        let completed_before = self.completions();
        let happened = self.poll(entry);
        if happened {
            self.count_progress(completed_before);
        }
        if self.is_pending() {
            return self.step_rendezvous(entry, happened);
        }
        if happened { Step::Happened } else { Step::Nothing }
    }

    /// Handles messages that have arrived, and sends queued ones.
    #[inline]
    pub(crate) fn poll(&self, entry: Entry) -> bool {
        let arrived = entry.enter(
            &self.arrivals,
            #[inline(always)]
            |arrivals| {
                arrivals.inbox.poll(
                    POLL_BUDGET,
                    #[inline(always)]
                    |peer, message| self.arrive(peer, message),
                )
            },
        );
        let mut happened = entry.happened(arrived.map(|arrived| arrived != 0));
        happened |= S::run_left_behind(&self.matching_shards);
        if self.is_backlogged() {
            happened |= self.drain_backlogs(entry);
        }
        happened
    }

    #[cold]
    fn step_rendezvous(&self, entry: Entry, polled: bool) -> Step {
        let step = entry.enter(&self.rendezvous, |rendezvous| {
            self.noting(rendezvous, |rendezvous| self.advance(rendezvous))
        });
        match step {
            Some(Step::Nothing) | None if polled => Step::Happened,
            Some(step) => step,
            None if entry.happened(None) => Step::Happened,
            None => Step::Nothing,
        }
    }

    /// Advances rendezvous transfers, flushes and freed requests.
    fn advance(&self, rendezvous: &mut RendezvousState) -> Step {
        let mut happened = self.pump_streams(rendezvous);
        happened |= self.run_sequels(rendezvous);
        rendezvous.release_abandoned();
        if let Some(event) = rendezvous.spread_events.pop_front() {
            return Step::Spread(event);
        }
        if let Some(push) = rendezvous.pushes.pop_front() {
            return Step::Push(push);
        }
        if let Some(pull) = self.next_pull(rendezvous) {
            return Step::Pull(pull);
        }
        // A pull that was streamed instead, or that waits for its sender, leaves others behind it,
        // so the caller polls again.
        if happened || !rendezvous.pulls.is_empty() { Step::Happened } else { Step::Nothing }
    }

    /// Runs the deferred work that is due.
    fn run_sequels(&self, rendezvous: &mut RendezvousState) -> bool {
        let due = rendezvous.due_sequels();
        let happened = !due.is_empty();
        for sequel in due {
            let mut send = |id, args| {
                let sent = self.send_into(id, args);
                debug_assert!(sent.is_ok(), "it is no message that may be spread");
            };
            if let Some((id, outcome)) = sequel.run(&mut send) {
                self.complete(id, outcome);
            }
        }
        happened
    }

    /// Counts the operations completed by this step; `completed_before` were complete when it began.
    #[inline]
    fn count_progress(&self, completed_before: u64) {
        if !S::PARTED {
            // There is one matching shard.
            let steps = self.matching_shard(0).with(Path::Progress, |shard| shard.matching.take_steps());
            counters::count(CountedEvent::MatchingStep, steps);
        }
        if self.completions() != completed_before {
            self.row.completed_something();
        }
    }
}
