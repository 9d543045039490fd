//! How one phase of a job leads to the next: see the table in [`super`].

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::Supervisor;
use super::phase::Phase;
use crate::leftovers::{LOOK, Leftovers, Remains};
use crate::output::Health;
use crate::rank::Rank;

/// How long the other ranks may take to end after one has failed.
const GRACE: Duration = Duration::from_millis(500);
/// The same after the launcher was told to end, and so were they.
const INTERRUPTED_GRACE: Duration = Duration::from_millis(1500);

impl Supervisor {
    /// Returns true if there is nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        let written = || self.sinks.health().iter().all(|health| *health != Health::Writing);
        self.given_up || (matches!(self.phase, Phase::Writing) && written())
    }

    /// The launcher is told to end. The first time the ranks are told; the second time they are killed; the
    /// third time, or when there is only output left that nobody reads, the launcher just goes.
    pub(super) fn interrupt(&mut self, signal: Signal) {
        match &mut self.phase {
            Phase::Running if self.interrupted.is_none() => {
                self.interrupted = Some(signal);
                self.pass_on(signal);
                // A rank that somebody has stopped would not see it.
                self.pass_on(Signal::SIGCONT);
                return;
            }
            Phase::Running | Phase::Ending { kill_at: Some(_) } => {
                self.phase = Phase::Ending { kill_at: Some(Instant::now()) };
            }
            Phase::Leftovers { leftovers, gone: false, .. } => leftovers.hurry(),
            Phase::Ending { kill_at: None } | Phase::Leftovers { .. } | Phase::Writing => {
                self.given_up = true
            }
        }
        self.interrupted.get_or_insert(signal);
        self.failed.get_or_insert(128 + signal as i32);
    }

    /// Ends the job with `status`.
    pub(super) fn end(&mut self, status: i32) {
        self.failed.get_or_insert(status);
        let grace = if self.interrupted.is_some() {
            INTERRUPTED_GRACE
        } else {
            self.pass_on(Signal::SIGTERM);
            GRACE
        };
        self.phase = Phase::Ending { kill_at: Some(Instant::now() + grace) };
    }

    /// Goes on to the next phase when this one is over.
    pub(super) fn advance(&mut self) {
        let now = Instant::now();
        if let Phase::Ending { kill_at } = &mut self.phase
            && kill_at.is_some_and(|at| at <= now)
        {
            *kill_at = None;
            self.pass_on(Signal::SIGKILL);
        }
        self.given_up |= self.give_up_at.is_some_and(|at| at <= now);
        let running = !self.ended.is_empty() || self.ranks.iter().any(Rank::is_running);
        match &mut self.phase {
            Phase::Running if !running => {
                self.phase =
                    Phase::Leftovers { leftovers: Leftovers::patient(), next_look: now, gone: false };
                self.advance();
            }
            Phase::Ending { kill_at } if !running => {
                let leftovers = Leftovers::impatient(*kill_at);
                self.phase = Phase::Leftovers { leftovers, next_look: now, gone: false };
                self.advance();
            }
            Phase::Leftovers { gone: true, .. } if self.drained => self.finish(),
            Phase::Leftovers { next_look, gone: false, .. } if *next_look <= now => {
                self.look_at_leftovers(now)
            }
            _ => {}
        }
    }

    fn look_at_leftovers(&mut self, now: Instant) {
        let Phase::Leftovers { leftovers, next_look, gone } = &mut self.phase else { return };
        *next_look = now + LOOK;
        // From now on the pipes are read to their ends.
        self.drained = false;
        let groups: Vec<Pid> = self.ranks.iter().map(Rank::group).collect();
        let look = leftovers.look(&self.common.job_id, &groups);
        *gone = matches!(look, Remains::Gone | Remains::Immortal(_));
        if *gone && self.interrupted.is_some() {
            // A user who interrupts a job does not want to wait for a reader that may never read.
            self.give_up_at = Some(now + INTERRUPTED_GRACE);
        }
        match look {
            Remains::Gone | Remains::Left => {}
            Remains::Asked(left) => self.say_left(&left, "ended now"),
            Remains::Immortal(left) => self.say_left(&left, "impossible to kill"),
        }
    }

    /// Nothing of the job is left: lets its processes go and has the rest of its output written.
    fn finish(&mut self) {
        for rank in &mut self.ranks {
            rank.reap(&mut self.guardian);
            for (index, stream) in rank.streams.iter_mut().enumerate() {
                if let Some(mut stream) = stream.take() {
                    stream.flush(self.sinks.of(index));
                }
            }
        }
        if self.failed.is_none() {
            self.say_late();
        }
        self.sinks.out.close();
        if let Some(err) = &self.sinks.err {
            err.close();
        }
        self.phase = Phase::Writing;
    }
}
