//! The offload server: which offload thread serves which VNI under execution `offload`, and how
//! idle threads sleep and wake.
//!
//! `heddle-message` starts the threads. Each takes [turns](crate::Guarded::take_turn) at the states of its
//! VNIs, in which it runs the posted operations and makes progress. Threads with nothing to do sleep on a
//! [`Roster`]. The last one sleeps at the process's doorbell, which messages ring. The others sleep apart, so
//! in a busy process the senders of messages need not ring for idle threads.

use crate::choice::{Model, OffloadThreads};
use crate::counters::{Row, Tracked};
use crate::path::Path;
use heddle_combining::offload::{self, Served, Waker};
use heddle_sync::roster::{Check, Up};
use heddle_sync::{Doorbell, Native, Roster, WaitPolicy};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The offload threads of a process. Copies stand for the same threads.
#[derive(Clone)]
pub struct OffloadServer {
    roster: Arc<Roster>,
    /// The doorbell that messages ring.
    door: Arc<dyn AsRef<Doorbell> + Send + Sync>,
    threads: usize,
}

impl fmt::Debug for OffloadServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffloadServer").field("roster", &self.roster).finish_non_exhaustive()
    }
}

impl OffloadServer {
    /// The offload threads for `vnis` VNIs; `door` gives the doorbell that messages ring. `None` unless the
    /// model's execution is `offload`. The caller starts the [threads](Self::threads).
    pub fn of(
        model: &Model,
        vnis: usize,
        door: impl FnOnce() -> Arc<dyn AsRef<Doorbell> + Send + Sync>,
    ) -> Option<OffloadServer> {
        let threads = match model.offload_threads {
            OffloadThreads::PerVni => vnis,
            OffloadThreads::One => 1,
        };
        let server = || OffloadServer {
            roster: Arc::new(Roster::new(threads, WaitPolicy::DEFAULT)),
            door: door(),
            threads,
        };
        model.is_offloaded().then(server)
    }

    /// The number of threads. Their numbers begin at 0.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The number of the thread to which VNI number `vni` is assigned. Other threads may serve the VNI, too.
    pub fn thread_of(&self, vni: usize) -> usize {
        vni % self.threads
    }

    /// Wakes the thread with that number if it sleeps, because it has something to do.
    pub fn wake(&self, thread: usize) {
        self.roster.ring(thread, (*self.door).as_ref());
    }

    /// Lets the calling thread, which has that number, sleep; see [`Roster::sleep`].
    pub fn sleep(&self, thread: usize, longest: Option<Duration>, check: impl FnOnce(Check) -> bool) -> Up {
        self.roster.sleep(thread, (*self.door).as_ref(), longest, check)
    }
}

/// Wakes the offload thread of one VNI.
#[derive(Debug)]
pub(crate) struct ThreadWaker {
    pub(crate) server: OffloadServer,
    pub(crate) thread: usize,
}

impl Waker for ThreadWaker {
    #[inline]
    fn wake(&self) {
        self.server.wake(self.thread);
    }
}

/// State that an offload thread serves.
pub(crate) type Offload<T> = offload::Offload<Tracked<T>, Native, ThreadWaker>;

/// The turn of a thread at a state: an offload thread's, or a waiting thread's while that one has no core.
/// Until it is dropped, no other thread has a turn there.
#[derive(Debug)]
pub struct OffloadTurn<'a, T: Send + 'static> {
    turn: offload::Turn<'a, Tracked<T>, Native, ThreadWaker>,
    row: Row,
}

impl<'a, T: Send + 'static> OffloadTurn<'a, T> {
    pub(crate) fn take(offload: &'a Offload<T>, row: Row) -> Option<OffloadTurn<'a, T>> {
        Some(OffloadTurn { turn: offload.take_turn()?, row })
    }

    pub(crate) fn take_idle(offload: &'a Offload<T>, seen: &mut u32, row: Row) -> Option<OffloadTurn<'a, T>> {
        Some(OffloadTurn { turn: offload.take_idle_turn(seen)?, row })
    }

    /// Counts the turn as an entry, because it has made progress. Other turns do not count:
    /// they keep no thread waiting.
    pub fn has_made_progress(&self) {
        self.row.entered(Path::Progress);
    }

    /// Runs the posted operations. Returns true if there were any.
    pub fn serve_posted(&mut self) -> bool {
        self.turn.serve_posted() != Served::Nothing
    }

    /// Runs `use_it` on the state. It must not enter a critical section, and must not panic.
    pub fn with<R>(&mut self, use_it: impl FnOnce(&mut T) -> R) -> R {
        self.turn.with(|state| state.run(use_it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Execution;

    #[test]
    fn vnis_are_shared_out_among_the_offload_threads() {
        for (offload_threads, thread_of) in
            [(OffloadThreads::PerVni, [0, 1, 2]), (OffloadThreads::One, [0; 3])]
        {
            let model = Model { execution: Execution::Offload, offload_threads, ..Model::default() };
            let server = OffloadServer::of(&model, 3, || Arc::new(Door::default())).expect("it is offloaded");
            assert_eq!([0, 1, 2].map(|vni| server.thread_of(vni)), thread_of, "{offload_threads:?}");
        }
        assert!(OffloadServer::of(&Model::default(), 3, || unreachable!("nobody rings")).is_none());
    }

    #[derive(Default)]
    struct Door(Doorbell);

    impl AsRef<Doorbell> for Door {
        fn as_ref(&self) -> &Doorbell {
            &self.0
        }
    }
}
