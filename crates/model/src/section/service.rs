//! The threads that serve the VNIs under execution `offload`: which thread is whose, where they sleep, what
//! wakes them.
//!
//! The engine starts the threads; each takes [turns](crate::Guarded::take_turn) at its VNIs' states, in which
//! it runs what was posted and makes progress. Those with nothing to do sleep on a [`Roster`]: the last one
//! at the process's own doorbell, which messages ring, the others apart, so that it is not rung for all the idle
//! threads of a busy process.

use crate::choice::{Model, OffloadThreads};
use crate::counters::Row;
use crate::path::Path;
use heddle_sync::combining::offload::{self, Served, Waker};
use heddle_sync::roster::{Check, Up};
use heddle_sync::{Doorbell, Native, Roster, WaitPolicy};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The threads that serve the VNIs' states. Copies stand for the same threads.
#[derive(Clone)]
pub struct Service {
    roster: Arc<Roster>,
    door: Arc<dyn AsRef<Doorbell> + Send + Sync>,
    threads: usize,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("roster", &self.roster).finish_non_exhaustive()
    }
}

impl Service {
    /// The threads for `vnis` VNIs, with the doorbell that messages ring; `None` unless the model is
    /// `offload`. The caller starts the [threads](Self::threads).
    pub fn of(
        model: &Model,
        vnis: usize,
        door: impl FnOnce() -> Arc<dyn AsRef<Doorbell> + Send + Sync>,
    ) -> Option<Service> {
        let threads = match model.offload_threads {
            OffloadThreads::PerVni => vnis,
            OffloadThreads::One => 1,
        };
        let service =
            || Service { roster: Arc::new(Roster::new(threads, WaitPolicy::DEFAULT)), door: door(), threads };
        model.is_offloaded().then(service)
    }

    /// How many threads there are to be; they have numbers from 0.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The thread that serves a VNI, before all others.
    pub fn thread_of(&self, vni: usize) -> usize {
        vni % self.threads
    }

    /// There is something to do for that thread: if it sleeps, it gets up.
    pub fn wake(&self, thread: usize) {
        self.roster.ring(thread, (*self.door).as_ref());
    }

    /// Sleeps, as that thread: see [`Roster::sleep`].
    pub fn sleep(&self, thread: usize, longest: Option<Duration>, check: impl FnOnce(Check) -> bool) -> Up {
        self.roster.sleep(thread, (*self.door).as_ref(), longest, check)
    }
}

/// What wakes the thread of one VNI.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) service: Service,
    pub(crate) thread: usize,
}

impl Waker for Call {
    #[inline]
    fn wake(&self) {
        self.service.wake(self.thread);
    }
}

/// State that is served.
pub(crate) type Offload<T> = offload::Offload<T, Native, Call>;

/// A serving thread at a state; nobody else is, until this is dropped.
#[derive(Debug)]
pub struct Turn<'a, T: Send + 'static> {
    turn: offload::Turn<'a, T, Native, Call>,
    row: Row,
}

impl<'a, T: Send + 'static> Turn<'a, T> {
    pub(crate) fn take(offload: &'a Offload<T>, row: Row) -> Option<Turn<'a, T>> {
        Some(Turn { turn: offload.take_turn()?, row })
    }

    /// The turn has brought progress: it counts as an entry. Others do not, there is no section that this
    /// thread would take from anybody.
    pub fn has_made_progress(&self) {
        self.row.entered(Path::Progress);
    }

    /// Runs what was posted. Returns whether there was anything.
    pub fn serve_posted(&mut self) -> bool {
        self.turn.serve_posted() != Served::Nothing
    }

    /// Uses the state. `use_it` must not enter a section, and must not panic.
    pub fn with<R>(&mut self, use_it: impl FnOnce(&mut T) -> R) -> R {
        self.turn.with(use_it)
    }
}
