//! The running threads of the offload server, which serve the VNIs under execution `offload`.
//!
//! An offload thread runs the operations posted to its VNIs and makes their progress, so messages advance
//! while no thread of the program is in MPI. Now and then it polls the other VNIs, too: their threads may
//! sleep, or copy a large message. After a while without work it sleeps ([`heddle_model::OffloadServer`]).
//!
//! The threads live from `MPI_Init` to `MPI_Finalize`. A process that exits without `MPI_Finalize`
//! ends them where they are, so the objects that they use are never freed. A child of a fork has
//! none, and may not call MPI.

use crate::error::{Error, Result};
use crate::vni::{LONGEST_SLEEP, TurnOutcome, Vni};
use heddle_model::OffloadServer;
use heddle_platform::atomic::Ordering;
use heddle_platform::background;
use heddle_settings::{Cores, Settings};
use heddle_spec::constants as mpi;
use heddle_sync::roster::{Check, Up};
use heddle_sync::{Next, Waiter};
use heddle_transport::Fabric;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The number of rounds from one poll of the other VNIs to the next.
const OTHERS_EVERY: u32 = 16;

/// The running threads of the offload server.
#[derive(Debug)]
pub(crate) struct RunningServer {
    vnis: &'static [Vni],
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl RunningServer {
    /// Starts the threads.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if the system has no threads, or none on the cores that were chosen.
    pub(crate) fn start(
        server: &OffloadServer,
        fabric: &Fabric,
        vnis: &'static [Vni],
        settings: &Settings,
    ) -> Result<RunningServer> {
        let running = RunningServer { vnis, threads: Mutex::default() };
        for thread in 0..server.threads() {
            let server_thread = ServerThread {
                thread,
                server: server.clone(),
                fabric: fabric.clone(),
                vnis,
                wait: settings.wait,
            };
            let core = settings.offload_cores.of_thread(thread);
            match background::start(&format!("heddle-vni-{thread}"), core, move || server_thread.run()) {
                Ok(started) => running.threads().push(started),
                Err(error) => {
                    running.end();
                    return Err(no_thread(thread, core, &error));
                }
            }
        }
        Ok(running)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the threads, after they have run all posted operations.
    pub(crate) fn end(&self) {
        for vni in self.vnis {
            vni.close();
        }
        for thread in self.threads().drain(..) {
            // A thread that has panicked has been reported.
            let _ = thread.join();
        }
    }
}

#[cold]
fn no_thread(thread: usize, core: Option<usize>, error: &std::io::Error) -> Error {
    let what = match core {
        Some(core) => format!(
            "HEDDLE_OFFLOAD_CORES puts thread {thread} of execution \"offload\" on core {core}, where it cannot run: {error}; this \
             process may run on cores {}",
            Cores::from(background::allowed_cores())
        ),
        None => format!(
            "thread {thread} of execution \"offload\" cannot be started: {error}; set HEDDLE_OFFLOAD_THREADS=one, or HEDDLE_VNIS \
             to a smaller number"
        ),
    };
    Error::new(mpi::MPI_ERR_OTHER, what)
}

/// One thread of the offload server.
struct ServerThread {
    thread: usize,
    server: OffloadServer,
    fabric: Fabric,
    vnis: &'static [Vni],
    wait: heddle_sync::WaitPolicy,
}

impl ServerThread {
    fn assigned(&self) -> impl Iterator<Item = (usize, &'static Vni)> {
        let vnis = self.vnis.iter().enumerate();
        vnis.filter(|(index, _)| self.server.thread_of(*index) == self.thread)
    }

    fn others(&self) -> impl Iterator<Item = (usize, &'static Vni)> {
        let vnis = self.vnis.iter().enumerate();
        vnis.filter(|(index, _)| self.server.thread_of(*index) != self.thread)
    }

    fn run(&self) {
        self.attend(1);
        self.serve();
        self.attend(1u32.wrapping_neg());
    }

    /// Counts this thread as waiting on its VNIs, so that receivers see a process that can copy large
    /// messages, and the program's threads do not poll.
    fn attend(&self, change: u32) {
        for (vni, _) in self.assigned() {
            self.fabric.attendance(self.fabric.rank(), vni).fetch_add(change, Ordering::Relaxed);
        }
    }

    fn serve(&self) {
        let mut waiter = Waiter::new(&self.wait, 1);
        let mut round = 0u32;
        loop {
            // The queues are checked before they are run: no operation comes once they are closed.
            let closed = self.assigned().all(|(_, vni)| vni.is_closed());
            round = round.wrapping_add(1);
            let mut happened = false;
            for (_, vni) in self.assigned() {
                happened |= vni.serve() != TurnOutcome::Nothing;
                happened |= vni.advance_tasks();
            }
            if round.is_multiple_of(OTHERS_EVERY) {
                happened |= self.serve_others();
            }
            if happened {
                waiter.reset();
            } else if closed {
                return;
            } else if waiter.pause() == Next::Park && self.sleep() == Up::ForWork {
                waiter.reset();
            }
        }
    }

    /// Polls the VNIs of the other threads, and wakes their thread if there was work. Their tasks may wait
    /// for an event that came through the door without a message.
    fn serve_others(&self) -> bool {
        let mut happened = false;
        for (index, vni) in self.others() {
            happened |= vni.advance_tasks();
            if vni.serve() == TurnOutcome::Worked {
                self.server.wake(self.server.thread_of(index));
                happened = true;
            }
        }
        happened
    }

    #[cold]
    fn sleep(&self) -> Up {
        self.server.sleep(self.thread, Some(LONGEST_SLEEP), |check| {
            let mut happened = self.assigned().all(|(_, vni)| vni.is_closed());
            for (_, vni) in self.assigned() {
                happened |= vni.serve_for_certain(self.wait);
                happened |= vni.advance_tasks_for_certain();
            }
            if check == Check::Everything {
                for (index, vni) in self.others() {
                    happened |= vni.advance_tasks_for_certain();
                    if vni.serve_for_certain(self.wait) {
                        self.server.wake(self.server.thread_of(index));
                        happened = true;
                    }
                }
            }
            happened
        })
    }
}
